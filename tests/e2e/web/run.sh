#!/usr/bin/env bash
# run.sh PROFD SOURCE_ROOT [PICTURES]: the views in a headless Chromium, see test.mjs. Exits 77 where that cannot be.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/packages.sh"
profd=$(realpath "$1")
browser=
for name in ${PROFD_CHROMIUM:-} chromium chromium-browser google-chrome; do
  browser=$(command -v "$name") && break
done
[ -n "$browser" ] || not_run "no Chromium"
enter_web "$2"
npm run --silent build
exec node "$here/test.mjs" "$profd" "$2" "$browser" "${3:-}"
