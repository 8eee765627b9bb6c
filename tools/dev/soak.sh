# The soak campaign: hostile clients, files and projects against a daemon, with a table of figures (docs/soak.md).

# ./dev soak [--asan | --tsan] [MINUTES] [--scene NAME]...
cmd_soak() {
  case " $* " in *" --help "* | *" -h "*) python3 tests/soak/run.py "$@"; return ;; esac
  local preset=release
  case "${1:-}" in
    --asan) preset=asan; shift ;;
    --tsan) preset=tsan; shift ;;
  esac
  cmd_setup
  install_node
  build_preset "$preset" profd
  local generator=build/release/bin/profd-bench-gen
  if [ "$preset" = release ]; then
    build_preset release profd-bench-gen || echo "dev: no profd-bench-gen; Python writes the profiles" >&2
  fi
  python3 tests/soak/run.py --profd "build/$preset/profd" --generator "$generator" "$@"
}
