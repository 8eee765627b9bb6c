#!/usr/bin/env bash
# run.sh PROFD SOURCE_ROOT [PART_OF_A_NAME]: the views in a headless Chromium, see test.mjs. Exits 77 where that cannot be.
# PROFD_WEB_BUILT=1 takes the bundle as it is.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/packages.sh"
profd=$(realpath "$1")
need_browser
enter_web "$2"
[ -n "${PROFD_WEB_BUILT:-}" ] || npm run --silent build
exec node "$here/test.mjs" "$profd" "$2" "${3:-}"
