#!/usr/bin/env bash
# unit.sh SOURCE_ROOT [NAME]: types and unit tests of clients/NAME, of clients/web without one.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
enter_client "$1" "${2:-web}"
npm run --silent check
exec npm test --silent
