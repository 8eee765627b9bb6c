# Fuzzing: clang's libFuzzer with sanitizers.

# cmd_fuzz [TARGET [SECONDS] | --all [SECONDS_TEXT SECONDS_HARD] [OPTION...]]
cmd_fuzz() {
  install_packages clang-14 libclang-rt-14-dev llvm-14 python3
  mkdir -p build/fuzz
  cmake --preset fuzz >build/fuzz/configure.log || { cat build/fuzz/configure.log >&2; return 1; }
  if [ $# -eq 0 ]; then
    echo "usage: ./dev fuzz TARGET [SECONDS]   or   ./dev fuzz --all [SECONDS_TEXT SECONDS_HARD] [--jobs N]"
    cmake --build build/fuzz --target help | grep -o 'fuzz_[a-z_0-9]*:' | sort -u | sed 's/fuzz_\(.*\):/  \1/'
    return
  fi
  if [ "$1" = --all ]; then
    shift
    python3 tools/fuzz_campaign.py "$@"
  else
    python3 tools/fuzz_campaign.py "${2:-60}" "${2:-60}" --only "$1" --again
  fi
}
