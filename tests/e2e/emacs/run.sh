#!/usr/bin/env bash
# Tests of clients/emacs in a real Emacs: run.sh PROFD SOURCE_ROOT [NAME...]
#
# PROFD is the daemon's binary; NAME picks clients/emacs/test/NAME-test.el, all without one; `lint` compiles with warnings as
# errors and runs checkdoc and package-lint. EMACS names another Emacs than that on PATH; exits with 77 (not run) where there
# is none.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
profd=$(readlink -f "${1:?usage: run.sh PROFD SOURCE_ROOT [NAME...]}")
source_dir=$(readlink -f "${2:?usage: run.sh PROFD SOURCE_ROOT [NAME...]}")
shift 2
emacs=$(command -v "${EMACS:-emacs}") &&
  "$emacs" -Q --batch --eval '(kill-emacs (if (version<= "28.1" emacs-version) 0 1))' 2>/dev/null ||
  { echo "NOT RUN: no Emacs 28.1 or newer"; exit 77; }
client=$source_dir/clients/emacs

if [ "${1:-}" = lint ]; then
  exec env PROFD_TEST_CLIENT="$client" timeout 120 "$emacs" -Q --batch -l "$here/lint.el"
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/profd-emacs.XXXXXX")
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
[ ${#names[@]} -gt 0 ] || names=($(cd "$client/test" && ls -- *-test.el | sed 's/-test\.el$//'))
for name in "${names[@]}"; do
  home=$scratch/$name
  mkdir -p "$home"/{config,data,state,cache,work,bin}
  mkdir -m 700 "$home/run"
  ln -s "$profd" "$home/bin/profd"
  echo "# $name"
  env -i PATH="$home/bin:$PATH" HOME="$home" TMPDIR="$home" LANG=C.UTF-8 TERM=xterm-256color \
    XDG_CONFIG_HOME="$home/config" XDG_DATA_HOME="$home/data" XDG_STATE_HOME="$home/state" \
    XDG_CACHE_HOME="$home/cache" XDG_RUNTIME_DIR="$home/run" PROFD_TEST_SOURCE="$source_dir" PROFD_TEST_WORK="$home/work" \
    timeout 120 "$emacs" -Q --batch -L "$client" -L "$client/test" -l ert -l "$client/test/$name-test.el" \
    -f ert-run-tests-batch-and-exit </dev/null 2>&1
  status=$?
  [ $status -eq 0 ] || failures=$((failures + 1))
  [ $status -eq 124 ] && echo "not ok: $name took more than 120 s"
done
[ $failures -eq 0 ] || { echo "$failures of ${#names[@]} test files failed"; exit 1; }
