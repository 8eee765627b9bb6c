#!/usr/bin/env bash
# run.sh PROFD SOURCE_ROOT BUILD_DIR: installs vscode-jsonrpc below the build folder, then runs test.js.
set -euo pipefail
profd=$1 root=$2 build=$3
here=$root/tests/e2e/vscode-jsonrpc
command -v node npm >/dev/null || { echo "node and npm are missing; ./dev setup installs them" >&2; exit 1; }
mkdir -p "$build/e2e/vscode-jsonrpc"
cd "$build/e2e/vscode-jsonrpc"
if ! cmp -s "$here/package.json" package.json || [ ! -d node_modules/vscode-jsonrpc ]; then
  cp "$here/package.json" .
  npm install --silent --no-audit --no-fund --ignore-scripts
fi
NODE_PATH=$PWD/node_modules exec node "$here/test.js" "$profd" "$root"
