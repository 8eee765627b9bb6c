# Editors for the end-to-end tests: the distribution's where they are new enough, else newer ones in build/editors.

# install_editors: what the tests of tests/e2e run in. Fails with a sentence when there is none to be had.
install_editors() {
  if command -v nvim >/dev/null && nvim --headless -u NONE -i NONE -c 'if !has("nvim-0.10") | cquit | endif' -c 'qall!' 2>/dev/null; then
    return
  fi
  tests/e2e/editors/fetch.sh neovim nvim >/dev/null
}

# install_vscode: VS Code for tests/e2e/vscode, drawn by the distribution's Chromium.
install_vscode() {
  install_packages chromium && tests/e2e/editors/fetch_vscode.sh >/dev/null
}
