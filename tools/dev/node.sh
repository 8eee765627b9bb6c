# Node.js for the views, the extension and their tests: one version whatever the machine has (tools/node).

# install_node: where it is not to be had, a Node of the machine's own that is new enough does; without one what needs it is left out.
install_node() {
  if ! cmp -s tools/node/requirements.txt build/node/complete; then
    echo "dev: fetching Node.js" >&2
    python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip || true
    tools/node/fetch.sh || echo "dev: the Node.js of tools/node/requirements.txt is not to be had" >&2
  fi
  . tools/node/use.sh
  have_node || echo "dev: no Node.js 20.19 or newer: the views, the extension and their tests are left out" >&2
}

# install_node_modules FOLDER: what its package-lock.json says; given up after three minutes.
install_node_modules() {
  local folder=$1
  [ "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ] && return
  echo "dev: npm ci in $folder" >&2
  (cd "$folder" && npm_config_fetch_retries=1 npm_config_fetch_timeout=15000 timeout -k 5 180 npm ci --silent --no-audit --no-fund </dev/null) || {
    rm -rf "$folder/node_modules"
    echo "dev: npm failed; the tests that need $folder are not run" >&2
  }
}
