# The test suite and the linters.

cmd_test() {
  cmd_setup
  build_preset ci
  ctest --preset ci -j"$(nproc)" "$@"
}
