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
  install_packages python3
  install_node_modules clients/shared/ts
  install_node_modules tests/e2e/peers
  install_editors
  build_preset "$preset"
  ctest --preset "$preset" -j"$(nproc)" "$@"
}
