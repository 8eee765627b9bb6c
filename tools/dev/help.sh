cmd_help() {
  cat <<'T'
./dev build [PRESET]   build (default: release, leaves build/release/profd)
./dev test [ARGS]      build with warnings as errors and run every test
./dev bench [ARGS]     measure speed and memory beside the peers; --quick takes a minute, --help tells more
T
}
