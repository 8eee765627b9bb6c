cmd_help() {
  cat <<'T'
./dev build [PRESET]   build (default: release, leaves build/release/profd)
./dev test [ARGS]      build with warnings as errors and run every test
T
}
