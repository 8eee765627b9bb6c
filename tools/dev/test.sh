# The test suite and the linters.

cmd_test() {
  cmd_setup
  install_node_modules clients/shared/ts
  build_preset ci
  ctest --preset ci -j"$(nproc)" "$@"
}
