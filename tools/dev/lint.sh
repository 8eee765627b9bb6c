# Style and static checks. `./dev lint` checks all; `./dev lint --fix` formats.

cpp_files() { git ls-files '*.h' '*.cpp' | grep -v -e /generated/ -e agents/c/live_stream.h; }

# Lua, in the style of clients/neovim/.stylua.toml.
stylua() {
  local run="npx --yes @johnnymorganz/stylua-bin@2.5.2"
  (cd clients/neovim && $run "$@" .) && $run "$@" --config-path clients/neovim/.stylua.toml tests/e2e/neovim
}

# TypeScript of clients/NAME.
client_lint() {
  install_node_modules "clients/$1"
  (cd "clients/$1" && npm run --silent "$2" && { [ "$2" = fix ] || npm run --silent check; })
}

cmd_lint() {
  cmd_setup
  install_packages clang-format-14 clang-tidy-14
  install_node
  if [ "${1:-}" = --fix ]; then
    cpp_files | xargs -P"$(nproc)" -n 20 clang-format-14 -i
    stylua
    client_lint web fix
    client_lint vscode fix
    return
  fi
  local failed=0
  cpp_files | xargs -P"$(nproc)" -n 20 clang-format-14 --dry-run -Werror || failed=1
  python3 tests/tidy/layers.py || failed=1
  python3 tests/tidy/format_pages.py || failed=1
  stylua --check || failed=1
  client_lint web lint || failed=1
  client_lint vscode lint || failed=1
  cmake --preset dev >/dev/null
  cpp_files | grep '\.cpp$' | grep -v '^tests/' |
    xargs -P"$(nproc)" -n 4 clang-tidy-14 -p build/dev --quiet 2>/dev/null || failed=1
  return $failed
}
