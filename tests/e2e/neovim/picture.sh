#!/usr/bin/env bash
# A picture of the plugin at work: picture.sh PROFD OUT.png [LUA FILE]
#
# Neovim in tmux, the screen as text with colours, drawn by headless Chromium. LUA runs before the picture is taken
# (a file; default picture.lua beside this script) and sets vim.g.ready when the screen shows what it should.
# Needs tmux, chromium, python3 and a monospaced font.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_dir=$(cd "$here/../../.." && pwd)
profd=$(readlink -f "$1")
out=$2
script=$(readlink -f "${3:-$here/picture.lua}")
columns=${COLUMNS_OF_PICTURE:-96} lines=${LINES_OF_PICTURE:-31}
nvim=${NVIM:-$("$source_dir/tests/e2e/editors/fetch.sh" neovim nvim)}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/profd-pic.XXXXXX")
mkdir -p "$scratch"/{bin,home,work} && mkdir -m 700 "$scratch/run"
ln -s "$profd" "$scratch/bin/profd"
cp -r "$source_dir/tests/fixtures/go-demo" "$scratch/work/"
mkdir "$scratch/work/go-demo/.git"
touch -d 2020-01-01 "$scratch"/work/go-demo/*.go  # older than the recording, as they were
screen() { tmux -L "profd-$$" -f /dev/null "$@"; }
cleanup() {
  [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
  screen kill-server 2>/dev/null || true
  rm -rf "$scratch"
}
trap cleanup EXIT

# An unpacked Neovim cannot start its own second half: the server is started by hand, the screen attaches to it.
export PATH="$scratch/bin:$PATH" HOME="$scratch/home" XDG_RUNTIME_DIR="$scratch/run" LANG=C.UTF-8 TERM=xterm-256color COLORTERM=truecolor
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME
cd "$scratch/work/go-demo"
"$nvim" --headless --listen "$scratch/nvim.sock" -u NONE -i NONE -n --cmd 'set termguicolors' \
  --cmd "set runtimepath^=$source_dir/clients/neovim" -c 'runtime! plugin/profd.lua' >"$scratch/nvim.log" 2>&1 &
server=$!
until [ -S "$scratch/nvim.sock" ]; do kill -0 "$server"; done
screen new-session -d -x "$columns" -y "$lines" "$nvim --server $scratch/nvim.sock --remote-ui"
screen set -g status off
screen set -ga terminal-overrides ',*:Tc'
ask() { "$nvim" --server "$scratch/nvim.sock" --remote-expr "$1"; }
until [ "$(ask 'len(nvim_list_uis())')" = 1 ]; do :; done
ask "execute('luafile $script')" >/dev/null
until [ "$(ask 'get(g:, "ready", 0)')" = 1 ]; do :; done
ask "execute('redraw!')" >/dev/null
before="" now=$(screen capture-pane -p -e -N)
until [ "$before" = "$now" ]; do
  before=$now
  ask '1' >/dev/null # the screen has been drawn when two looks agree
  now=$(screen capture-pane -p -e -N)
done
printf '%s\n' "$now" >"$scratch/screen.ansi"
python3 "$here/ansi_to_html.py" "$columns" "$lines" <"$scratch/screen.ansi" >"$scratch/screen.html"
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --user-data-dir="$scratch/chromium" --hide-scrollbars \
  --force-device-scale-factor=1.5 --window-size="$((columns * 8 + 24)),$((lines * 18 + 24))" \
  --screenshot="$scratch/screen.png" "file://$scratch/screen.html" >/dev/null 2>&1
cd "$source_dir"
cp "$scratch/screen.png" "$out"
