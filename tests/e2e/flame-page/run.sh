#!/usr/bin/env bash
# run.sh PROFD [FOLDER]: see test.js.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../web/packages.sh"
need_node
exec node "$(dirname "${BASH_SOURCE[0]}")/test.js" "$@"
