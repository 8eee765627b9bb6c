#!/usr/bin/env bash
# run.sh PROFD SOURCE_ROOT [NAME...]: clients/vscode in the real VS Code, see test.mjs. Exits 77 where that cannot be.
#
# NAME picks scenes. PROFD_VSCODE_PICTURES names a folder for pictures of what fails; PROFD_VSCODE_SCRIPT another program than
# test.mjs, PROFD_VSIX a package that is built already; without it one is built.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../web/packages.sh"
profd=$(realpath "$1") root=$(realpath "$2")
shift 2
# No pipe to head: where that ends first, pipefail says that there is no Chromium.
a_chromium() {
  local name
  for name in "${PROFD_CHROMIUM:-chromium}" chromium chromium-browser google-chrome; do
    command -v "$name" && return
  done
  return 1
}
PROFD_CHROMIUM=$(a_chromium) || not_run "no Chromium"
export PROFD_CHROMIUM
PROFD_VSCODE=$("$root/tests/e2e/editors/fetch_vscode.sh") || not_run "no VS Code to be had from npm's registry"
export PROFD_VSCODE

if [ ! -f "${PROFD_VSIX:-}" ]; then
  work=$(mktemp -d "${TMPDIR:-/tmp}/profd-vsix.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  PROFD_VSIX=$work/profd.vsix
  "$here/package.sh" "$root" "$PROFD_VSIX"
fi
enter_client "$root" vscode
node "$here/${PROFD_VSCODE_SCRIPT:-test.mjs}" "$profd" "$root" "$PROFD_VSIX" "$@"
