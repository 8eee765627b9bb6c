# Style and static checks. `./dev lint` checks all; `./dev lint --fix` formats.

cpp_files() { git ls-files '*.h' '*.cpp' | grep -v /generated/; }

cmd_lint() {
  cmd_setup
  install_packages clang-format-14 clang-tidy-14 python3
  if [ "${1:-}" = --fix ]; then
    cpp_files | xargs -P"$(nproc)" -n 20 clang-format-14 -i
    return
  fi
  local failed=0
  cpp_files | xargs -P"$(nproc)" -n 20 clang-format-14 --dry-run -Werror || failed=1
  python3 tests/tidy/layers.py || failed=1
  cmake --preset dev >/dev/null
  cpp_files | grep '\.cpp$' | grep -v '^tests/' |
    xargs -P"$(nproc)" -n 4 clang-tidy-14 -p build/dev --quiet 2>/dev/null || failed=1
  return $failed
}
