#!/usr/bin/env bash
# package.sh SOURCE_ROOT OUT.vsix: the views and the extension, built and packed once for all tests that show them. Exits 77 where that cannot be.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../web/packages.sh"
root=$(realpath "$1")
out=$(realpath -m "$2")
enter_web "$root"
npm run --silent build
enter_client "$root" vscode
npm run --silent build
npm run --silent package -- --out "$out" >"$out.log" || { cat "$out.log"; exit 1; }
