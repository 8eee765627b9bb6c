# The test suite.

# ./dev test [--asan | --tsan] [CTEST ARGS]; --bless rewrites golden files.
cmd_test() {
  local preset=ci
  case "${1:-}" in
    --asan) preset=asan; shift ;;
    --tsan) preset=tsan; shift ;;
    --bless) export PROFD_BLESS=1; shift ;;
  esac
  cmd_setup
  install_test_tools
  build_web
  build_preset "$preset"
  local status=0
  # Editors and daemons share a machine that may be busy: what fails is run once more, and both runs are in the output.
  ctest --preset "$preset" -j"$(nproc)" --repeat until-pass:2 "$@" || status=$?
  echo
  python3 tools/not_run.py "build/$preset"
  return $status
}

# What tests run beside profd. Where a package source does not answer, its tests are "not run" and say so.
install_test_tools() {
  local tools="luajit"
  command -v npm >/dev/null || tools="$tools nodejs npm"
  install_packages $tools || echo "dev: apt failed; the tests that need $tools are not run" >&2
  install_node_modules clients/shared/ts
  install_node_modules tests/e2e/peers
  install_editors || echo "dev: no Neovim 0.10 or newer; the tests that need it are not run" >&2
  install_vscode || echo "dev: no VS Code or no Chromium; the tests that need them are not run" >&2
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
