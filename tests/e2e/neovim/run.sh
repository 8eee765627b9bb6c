#!/usr/bin/env bash
# Tests of clients/neovim in a real Neovim: run.sh PROFD [NAME...]
#
# PROFD is the daemon's binary; NAME picks NAME_test.lua, all without one. NVIM names another Neovim than the one that
# tests/e2e/editors/fetch.sh unpacks; exits with 77 (not run) where there is none. Each test file gets a Neovim, a daemon and a home of its own.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_dir=$(cd "$here/../../.." && pwd)
profd=$(readlink -f "${1:?usage: run.sh PROFD [NAME...]}")
shift

# The one asked for, else a current one on PATH, else one unpacked for the tests.
find_nvim() {
  local candidate
  for candidate in "${NVIM:-}" "$(command -v nvim)"; do
    [ -n "$candidate" ] && "$candidate" --headless -u NONE -i NONE -c 'if !has("nvim-0.10") | cquit | endif' -c 'qall!' 2>/dev/null &&
      echo "$candidate" && return
  done
  "$source_dir/tests/e2e/editors/fetch.sh" neovim nvim
}
nvim=$(find_nvim) || { echo "NOT RUN: no Neovim 0.10 or newer on PATH, and none to be had from the package mirror"; exit 77; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/profd-nvim.XXXXXX")

# Daemons end by themselves when their last client is gone; one that a failed test left is ended by its socket's name.
cleanup() {
  local file
  for file in /proc/[0-9]*/cmdline; do
    { tr "\0" " " <"$file"; } 2>/dev/null | grep -qF -- "serve --socket $scratch/" && kill "$(basename "$(dirname "$file")")"
  done
  rm -rf "$scratch"
}
trap cleanup EXIT
failures=0
names=("$@")
[ ${#names[@]} -gt 0 ] || names=($(cd "$here" && ls -- *_test.lua | sed 's/_test\.lua$//'))

for name in "${names[@]}"; do
  home=$scratch/$name
  mkdir -p "$home"/{config,data,state,cache,work,bin}
  mkdir -m 700 "$home/run"
  ln -s "$profd" "$home/bin/profd"
  echo "# $name"
  env -i PATH="$home/bin:$PATH" HOME="$home" TMPDIR="$home" LANG=C.UTF-8 TERM=xterm-256color \
    XDG_CONFIG_HOME="$home/config" XDG_DATA_HOME="$home/data" XDG_STATE_HOME="$home/state" \
    XDG_CACHE_HOME="$home/cache" XDG_RUNTIME_DIR="$home/run" \
    PROFD_TEST_NVIM="$nvim" PROFD_TEST_SOURCE="$source_dir" PROFD_TEST_WORK="$home/work" PROFD_TEST_FILE="$here/${name}_test.lua" \
    timeout 120 "$nvim" --headless -u NONE -i NONE -n --cmd "set runtimepath^=$source_dir/clients/neovim" \
    -c "luafile $here/harness.lua" </dev/null 2>&1
  status=$?
  if [ $status -ne 0 ]; then
    failures=$((failures + 1))
    [ $status -eq 124 ] && echo "not ok: $name took more than 120 s"
    for file in "$home"/state/nvim/*.log; do
      [ -s "$file" ] && { echo "# $(basename "$file"):"; tail -n 20 "$file"; }
    done
  fi
done
[ $failures -eq 0 ] || { echo "$failures of ${#names[@]} test files failed"; exit 1; }
