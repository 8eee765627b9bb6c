# The main job on a bundled real profile.

cmd_run() {
  local profile=tests/fixtures/go-demo/cpu.pprof
  build_quietly_if_needed
  if [ $# -gt 0 ]; then
    exec build/release/profd "$@"
  fi
  build/release/profd "$profile"
  echo
  build/release/profd flame "$profile"
  cat <<T

Next:
  build/release/profd view $profile                   its flame graph, tables and sources in the browser
  build/release/profd top YOUR_PROFILE                the hottest functions of a profile of yours
  VS Code: code --install-extension clients/vscode/dist/profd.vsix
  Neovim:  nvim --cmd 'set rtp+=$PWD/clients/neovim' tests/fixtures/go-demo/main.go  then  :Profd open cpu.pprof
  Other LSP editors:  let them start  $PWD/build/release/profd connect
T
}

build_quietly_if_needed() {
  cmd_setup
  install_node
  build_web
  build_vscode
  if [ ! -x build/release/profd ]; then
    echo "dev: building profd (a few minutes the first time)" >&2
  fi
  build_preset release profd
}
