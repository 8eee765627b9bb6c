#!/usr/bin/env bash
# VS Code for tests: code-server, which is VS Code with its screen in a browser. Prints the path of its runner.
#
# Downloads what vscode/package-lock.json pins from npm's registry (800 MB unpacked) into build/editors/vscode. Nothing is
# compiled and no package's own script is run: the parts that would need it are not used by tests.
# The folder is kept: a second call costs nothing. Set PROFD_EDITORS for another place than build/editors.
# A registry that does not answer is given up after five minutes at most and not asked again for ten.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${PROFD_EDITORS:-$here/../../../build/editors}/vscode
mkdir -p "$home"
home=$(cd "$home" && pwd)
runner=$home/code-server
server=$home/node_modules/code-server

. "$here/once.sh"
is_there() { [ -x "$runner" ] && cmp -s "$here/vscode/package-lock.json" "$home/complete"; }
once
. "$here/../../../tools/node/use.sh"
have_node || fail "VS Code for tests needs Node.js 20.19 or newer, which this machine has not"

rm -rf "$home/node_modules" "$home/complete" "$home/failed"
cp "$here/vscode/package.json" "$here/vscode/package-lock.json" "$home"
# install FOLDER ARGUMENT...
install() {
  (cd "$1" && npm_config_fetch_retries=1 npm_config_fetch_timeout=30000 timeout -k 5 300 \
    npm "${@:2}" --omit=dev --ignore-scripts --no-audit --no-fund </dev/null >"$home/npm.log" 2>&1) ||
    { grep -i error "$home/npm.log" | head -n 5 >&2; rm -rf "$home/node_modules"; give_up "cannot download VS Code for tests from npm's registry"; }
}
install "$home" ci
# Its parts have lists of packages of their own, which `ci` finds incomplete.
install "$server/lib/vscode" install
install "$server/lib/vscode/extensions" install

node=$(find "$home"/node_modules/node-linux-*/bin/node | head -n 1)
[ -x "$node" ] || fail "no node for this machine's processor among the packages"
cat >"$runner" <<RUN
#!/bin/sh
exec "$node" "$server/out/node/entry.js" "\$@"
RUN
chmod +x "$runner"
cp "$here/vscode/package-lock.json" "$home/complete"
echo "$runner"
