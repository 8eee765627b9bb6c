#!/usr/bin/env bash
# run.sh PROFD [FOLDER]: see test.js.
set -euo pipefail
command -v node >/dev/null || { echo "not run: no node here"; exit 77; }
exec node "$(dirname "${BASH_SOURCE[0]}")/test.js" "$@"
