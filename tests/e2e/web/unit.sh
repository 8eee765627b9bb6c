#!/usr/bin/env bash
# unit.sh SOURCE_ROOT: types and unit tests of clients/web.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
enter_web "$1"
npm run --silent check
exec npm test --silent
