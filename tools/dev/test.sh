# The test suite.

# ./dev test [--asan | --tsan] [CTEST ARGS]; --bless rewrites golden files.
cmd_test() {
  local preset=ci
  case "${1:-}" in
    --asan) preset=asan; shift ;;
    --tsan) preset=tsan; shift ;;
    --bless) export PROFD_BLESS=1; shift ;;
  esac
  [ -x "build/$preset/bin/test_server" ] || need_room 7 "./dev test"
  need_room 1 "./dev test"
  cmd_setup
  install_node
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
  install_packages luajit || echo "dev: apt failed; the tests that need luajit are not run" >&2
  install_packages llvm-14 clang-14 libclang-rt-14-dev elfutils dwz xz-utils g++-aarch64-linux-gnu ||
    echo "dev: apt failed; symbols and lines are not compared with other symbolizers, nor XRay" >&2
  install_packages debuginfod libdebuginfod1 ||
    echo "dev: apt failed; the tests that need debuginfod are not run" >&2
  install_packages clangd-14 || echo "dev: apt failed; profd lsp is not tried with clangd" >&2
  install_packages emacs-nox || echo "dev: apt failed; the tests that need Emacs are not run" >&2
  install_packages vim tmux || echo "dev: apt failed; the tests that need Vim, or any editor in a terminal, are not run" >&2
  install_packages elpa-eglot texinfo || echo "dev: apt failed; Eglot and the manual for Emacs are not tested" >&2
  install_packages elpa-package-lint || echo "dev: apt failed; package-lint is not run" >&2
  install_packages elpa-lsp-mode || echo "dev: apt failed; lsp-mode is not tried" >&2
  install_node_modules clients/shared/ts
  install_node_modules tests/e2e/peers
  install_editors || echo "dev: no Neovim 0.10 or newer; the tests that need it are not run" >&2
  tests/e2e/editors/fetch.sh hx hx forky >/dev/null || echo "dev: no Helix; the tests that need it are not run" >&2
  install_vscode || echo "dev: no VS Code or no Chromium; the tests that need them are not run" >&2
}
