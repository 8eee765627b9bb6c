#!/usr/bin/env bash
# What typing costs in Neovim with hints on: typing.sh PROFD. A file of 10,000 lines, 50 of them with costs, or as many as
# HINTS says. NVIM names another Neovim than the one of tests/e2e/editors/fetch.sh. PROFD_BENCH_PAUSES=1 types once more
# with a pause behind each key that is long enough for the hints to be asked for again; PROFD_BENCH_LINE=5001 types on a line that has
# a hint, which is asked for at each pause. Run by hand on a quiet machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source_dir=$(cd "$here/../.." && pwd)
profd=$(readlink -f "${1:?usage: typing.sh PROFD}")
nvim=${NVIM:-$("$source_dir/tests/e2e/editors/fetch.sh" neovim nvim)}
home=$(mktemp -d)
server=""
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$home"' EXIT
mkdir -p "$home"/bin "$home"/src/.git
mkdir -m 700 "$home/run"
for program in "$profd" "$(dirname "$profd")"/profd-*; do ln -sf "$program" "$home/bin/"; done
python3 - "$home/src" "${HINTS:-50}" <<'PY'
import sys
root, hints = sys.argv[1], int(sys.argv[2])
with open(f"{root}/big.go", "w") as f:
    for i in range(1, 10001):
        f.write(f"\tvalue{i} := compute(value{i - 1}, {i})\n")
with open(f"{root}/big.folded", "w") as f:
    f.write("events: ns\n\nfl=" + root + "/big.go\nfn=work\n")
    for i in range(hints):
        f.write(f"{i * (10000 // hints) + 1} {1000 + i}\n")
PY
touch -d 2020-01-01 "$home/src/big.go"
cd "$home/src"
export PATH="$home/bin:$PATH" HOME="$home" LANG=C.UTF-8 TERM=xterm-256color XDG_RUNTIME_DIR="$home/run"
export PROFD_BENCH_ROOT="$home/src" PROFD_BENCH_OUT="$home/out"
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME
"$nvim" --headless --listen "$home/nvim.sock" -u NONE -i NONE -n --cmd 'set termguicolors' \
  --cmd "set runtimepath^=$source_dir/clients/neovim" -c 'runtime! plugin/profd.lua' >"$home/log" 2>&1 &
server=$!
until [ -S "$home/nvim.sock" ]; do kill -0 "$server"; done
# The screen, in a terminal of its own: what is drawn is read, and thrown away.
python3 - "$nvim" "$home/nvim.sock" "$here/typing.lua" <<'PY'
import os, pty, subprocess, sys, threading
nvim, socket, script = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv("/bin/sh", ["sh", "-c", f'stty rows 40 cols 120; exec "{nvim}" --server "{socket}" --remote-ui'])
def drain():
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass
reader = threading.Thread(target=drain)
reader.start()
def ask(expression):
    return subprocess.run([nvim, "--server", socket, "--remote-expr", expression], capture_output=True, text=True).stdout.strip()
while ask("len(nvim_list_uis())") != "1":
    pass
ask(f"execute('luafile {script}')")
reader.join()
os.waitpid(pid, 0)
PY
cat "$home/out"
