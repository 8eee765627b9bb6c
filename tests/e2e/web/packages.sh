# Sourced. What is not to be had ends with 77 (not run) and says why.
. "$(dirname "${BASH_SOURCE[0]}")/../../../tools/node/use.sh"
not_run() { echo "NOT RUN: $*"; exit 77; }
need_node() { have_node || not_run "no Node.js 20.19 or newer"; }

# need_browser: the one harness.mjs starts.
need_browser() {
  command -v "${PROFD_CHROMIUM:-chromium}" chromium chromium-browser google-chrome >/dev/null || not_run "no Chromium"
}

enter_web() { enter_client "$1" web; }

# enter_client SOURCE_ROOT NAME: goes to clients/NAME, with its packages installed.
enter_client() {
  need_node
  cd "$1/clients/$2"
  [ node_modules/.package-lock.json -nt package-lock.json ] && return
  npm_config_fetch_retries=0 npm_config_fetch_timeout=15000 \
    timeout -k 5 180 npm ci --silent --no-audit --no-fund </dev/null ||
    { rm -rf node_modules; not_run "the packages of clients/$2 are not to be had from npm's registry"; }
}
