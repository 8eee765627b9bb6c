#!/usr/bin/env bash
# An editor newer than the distribution's, for tests: fetch.sh PACKAGE [PROGRAM] [SUITE]
#
# Downloads PACKAGE of a newer Debian (default trixie) with every library it needs, from the mirror this machine's own
# apt is configured for, and unpacks it into build/editors/PACKAGE. Nothing is installed. The unpacked programs run by
# the libraries and the loader of that folder. Prints the path of PROGRAM (default: PACKAGE) on stdout.
# The folder is kept: a second call costs nothing. Set PROFD_EDITORS for another place than build/editors.
# A mirror that does not answer is given up after two minutes at most (a download after five) and not asked again for ten.
set -euo pipefail

package=${1:?usage: fetch.sh PACKAGE [PROGRAM] [SUITE]}
program=${2:-$package}
suite=${3:-trixie}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${PROFD_EDITORS:-$here/../../../build/editors}/$package
mkdir -p "$home"
home=$(cd "$home" && pwd)
runner=$home/bin/$program

. "$here/once.sh"
is_there() { [ -x "$runner" ] && [ "$(cat "$home/complete" 2>/dev/null)" = "$suite" ]; }
once
for tool in apt-get dpkg dpkg-deb; do
  command -v "$tool" >/dev/null || fail "$package of Debian $suite needs $tool, which this machine has not"
done

# The mirror that apt uses here for Debian itself; a security or third-party archive has no $suite.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -E '/debian/?$' | sort -u | head -n 1 || true)
[ -n "$mirror" ] || fail "apt has no Debian mirror configured: install $package by hand and put it on PATH"

work=$home/apt
root=$home/root
rm -rf "$root" "$work" "$home/bin" "$home/complete" "$home/failed"
mkdir -p "$work"/{lists/partial,archives/partial,etc/preferences.d,etc/apt.conf.d,log} "$root"/usr/{lib,lib64,bin,sbin} "$home/bin"
: >"$work/status" # nothing counts as installed, so that the C library comes along too
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$work/etc/sources.list"
cat >"$work/apt.conf" <<CONF
Dir::State "$work";
Dir::State::status "$work/status";
Dir::State::lists "$work/lists";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Etc::sourcelist "$work/etc/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::preferences "-";
Dir::Etc::preferencesparts "-";
Dir::Log "$work/log";
APT::Install-Recommends "false";
APT::Get::Assume-Yes "true";
APT::Architectures "";
Acquire::Languages "none";
Acquire::Retries "1";
Acquire::http::Timeout "15";
Acquire::https::Timeout "15";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
APT::Sandbox::User "root";
Debug::NoLocking "true";
CONF
# apt SECONDS ARGUMENT...
apt() { timeout -k 5 "$1" apt-get -c "$work/apt.conf" -qq "${@:2}" >"$work/log/apt" 2>&1 || { tail -n 5 "$work/log/apt" >&2; give_up "cannot download $package of Debian $suite from the configured mirror; put a current $program on PATH instead"; }; }
apt 120 update
apt 300 install --download-only "$package"

for link in lib lib64 bin sbin; do ln -s "usr/$link" "$root/$link"; done
for deb in "$work"/archives/*.deb; do dpkg-deb -x "$deb" "$root"; done
loader=$(find "$root/usr/lib64" "$root"/usr/lib/*-linux-gnu* -maxdepth 1 -name 'ld-linux*.so.*' | head -n 1)
binary=$(readlink -f "$root/usr/bin/$program" || true)
[ -n "$loader" ] || fail "no loader among the packages of $package"
# /etc/alternatives of the root does not exist: no maintainer script ran. A link into it leads nowhere.
[ -f "$binary" ] || binary=$root/usr/bin/$program
[ -f "$binary" ] || fail "$package of Debian $suite has no program $program"
libraries=$(find "$root/usr/lib" -name '*.so*' -printf '%h\n' | sort -u | grep -E 'linux-gnu[^/]*$' | paste -sd: -)

# Paths that were compiled in and are elsewhere now.
environment="" arguments=""
if [ "$program" = nvim ]; then
  environment="export VIMRUNTIME=\"\${VIMRUNTIME:-$root/usr/share/nvim/runtime}\""
  arguments="--cmd 'set runtimepath^=$root/usr/lib/nvim' " # syntax trees of Markdown and others
elif [ -d "$root/usr/share/emacs" ]; then
  share=$(find "$root/usr/share/emacs" -maxdepth 1 -name '[0-9]*' | head -n 1)
  paths=$(find "$share/lisp" -type d ! -path '*/obsolete*' | sort | paste -sd:)
  environment="export EMACSDATA=\"$share/etc\" EMACSDOC=\"$share/etc\" EMACSLOADPATH=\"$paths\""
  environment="$environment EMACSPATH=\"$(dirname "$(find "$root/usr/libexec/emacs" -name hexl | head -n 1)")\""
  dump=$(find "$root/usr" -name '*.pdmp' | head -n 1)
  [ -z "$dump" ] || arguments="--dump-file \"$dump\" "
fi

cat >"$runner" <<RUN
#!/bin/sh
# $package of Debian $suite, run by its own loader and libraries.
$environment
exec "$loader" --library-path "$libraries" "$binary" $arguments"\$@"
RUN
chmod +x "$runner"
rm -rf "$work"
echo "$suite" >"$home/complete"
echo "$runner"
