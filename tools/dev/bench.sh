# Benchmarks: profd beside its peers, in one session.

cmd_bench() {
  case " $* " in *" --help "* | *" -h "*) python3 bench/run.py "$@"; return ;; esac
  cmd_setup
  install_packages libisal-dev
  install_node
  command -v "${PROFD_CHROMIUM:-chromium}" >/dev/null || install_packages chromium || echo "dev: no Chromium; the page's rows will say so" >&2
  build_web
  build_preset release profd-bench-gen profd-bench-floor profd-bench-run profd-measure-several profd-lines-of
  if ninja -C build/release -t query profd >/dev/null 2>&1; then
    build_preset release profd
  else
    echo "dev: no profd to build yet; its rows will say so" >&2
  fi
  python3 bench/run.py "$@"
}
