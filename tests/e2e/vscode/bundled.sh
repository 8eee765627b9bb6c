#!/usr/bin/env bash
# bundled.sh PROFD SOURCE_ROOT: the extension with the daemon in it brings what the daemon needs. Exits 77 where that cannot be.
# PROFD_WEB_BUILT=1 takes the bundles as they are.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../web/packages.sh"
profd=$(realpath "$1") root=$(realpath "$2")
[ "$(uname -sm)" = "Linux x86_64" ] || not_run "packed for Linux on x86-64 alone"
command -v dpkg >/dev/null || not_run "licences of libraries are taken from Debian's packages"
! ldd "$profd" | grep -q 'lib[atu]b*san' || not_run "a build with sanitizers is not passed on"
work=$(mktemp -d "${TMPDIR:-/tmp}/profd-vsix.XXXXXX")
trap 'rm -rf "$work"' EXIT
[ -n "${PROFD_WEB_BUILT:-}" ] || "$here/package.sh" "$root" "$work/plain.vsix"
enter_client "$root" vscode
node tools/package.mjs --target linux-x64 --daemon "$profd" --out "$work/profd.vsix"

cd "$work"
python3 -m zipfile -e profd.vsix .
chmod +x extension/bin/profd extension/bin/profd-symbolize
env -i extension/bin/profd --version
# All but the system's own comes from the package itself.
foreign=$(ldd extension/bin/profd | grep -vE "linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so|=> $work/extension/" || true)
[ -z "$foreign" ] || { echo "not in the package: $foreign"; exit 1; }
ldd extension/bin/profd | grep -q "$work/extension/"
# What reads binaries is found beside it, and has what it needs.
cp "$root"/tests/fixtures/symbols/{app,addresses.pprof} .
env -i extension/bin/profd symbolize addresses.pprof | grep -q 'full *app'
ls extension/licenses | grep -q fmt
# An editor shows pictures of a README that is installed from the network or from the text itself.
[ "$(grep -c 'data:image/png;base64,' extension/readme.md)" = 2 ] || { echo "pictures of the README"; exit 1; }
