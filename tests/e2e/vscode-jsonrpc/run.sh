#!/usr/bin/env bash
# run.sh PROFD SOURCE_ROOT BUILD_DIR: installs vscode-jsonrpc below the build folder, then runs test.js.
# Exits 77 (not run) where the package is not to be had.
set -euo pipefail
profd=$1 root=$2 build=$3
here=$root/tests/e2e/vscode-jsonrpc
. "$root/tests/e2e/web/packages.sh"
need_node
mkdir -p "$build/e2e/vscode-jsonrpc"
cd "$build/e2e/vscode-jsonrpc"
if ! cmp -s "$here/package.json" package.json || [ ! -d node_modules/vscode-jsonrpc ]; then
  cp "$here/package.json" .
  npm_config_fetch_retries=0 npm_config_fetch_timeout=15000 \
    timeout -k 5 60 npm install --silent --no-audit --no-fund --ignore-scripts </dev/null ||
    { rm -f package.json; not_run "vscode-jsonrpc is not to be had from npm's registry"; }
fi
NODE_PATH=$PWD/node_modules exec node "$here/test.js" "$profd" "$root"
