# Fuzzing: clang's libFuzzer with sanitizers.

# cmd_fuzz [TARGET [SECONDS]]
cmd_fuzz() {
  install_packages clang-14 libclang-rt-14-dev llvm-14
  if [ $# -eq 0 ]; then
    echo "usage: ./dev fuzz TARGET [SECONDS]"
    cmake --preset fuzz >/dev/null
    cmake --build build/fuzz --target help | grep -o 'fuzz_[a-z_0-9]*:' | sort -u | sed 's/fuzz_\(.*\):/  \1/'
    return
  fi
  local target=$1 seconds=${2:-60} format corpus
  build_preset fuzz "fuzz_$target"
  corpus="build/fuzz/corpus/$target"
  mkdir -p "$corpus" "tests/fuzz/crashes/$target"
  # Seeds get the option byte in front.
  format=${target#reader_}
  for seed in formats/*/testdata/*; do
    case "$seed" in *.golden | */README.md) continue ;; esac
    [ "$target" = open ] || [ "formats/$format" = "${seed%%/testdata/*}" ] || continue
    { printf '\0'; cat "$seed"; } >"$corpus/seed-$(basename "$seed")"
  done
  "build/fuzz/bin/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -print_final_stats=1 -artifact_prefix="tests/fuzz/crashes/$target/" "$corpus"
}
