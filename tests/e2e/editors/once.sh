# Sourced by those that fetch an editor into a folder of its own: once, whoever asks, and not again soon after a failure.
# Needs `home`, the folder, and `runner`, the program's path; is_there says whether it is whole.

fail() { echo "$(basename "$0"): $*" >&2; exit 1; }
# fail, also to those who ask soon again
give_up() { echo "$*" >"$home/failed"; fail "$*"; }

# Ends with the runner's path where it is there already; else the caller fetches, alone, and keeps the lock.
once() {
  exec 9>"$home/.lock"
  flock 9 # tests that run side by side fetch once
  if is_there; then
    echo "$runner"
    exit
  fi
  if [ -n "$(find "$home/failed" -mmin -10 2>/dev/null)" ]; then
    fail "$(cat "$home/failed")"
  fi
}
