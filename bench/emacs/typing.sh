#!/usr/bin/env bash
# What typing costs in Emacs with hints on: typing.sh PROFD. A file of 10,000 lines, 50 of them with costs. Run by hand on a
# quiet machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
profd=$(readlink -f "${1:?usage: typing.sh PROFD}")
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
mkdir -p "$home"/bin "$home"/src/.git
mkdir -m 700 "$home/run"
ln -s "$profd" "$home/bin/profd"
python3 - "$home/src" <<'PY'
import gzip, sys
root = sys.argv[1]
with open(f"{root}/big.go", "w") as f:
    for i in range(1, 10001):
        f.write(f"\tvalue{i} := compute(value{i - 1}, {i})\n")
with open(f"{root}/big.folded", "w") as f:
    f.write("events: ns\n\nfl=" + root + "/big.go\nfn=work\n")
    for i in range(50):
        f.write(f"{i * 200 + 1} {1000 + i}\n")
PY
touch -d 2020-01-01 "$home/src/big.go"
mkdir "$home/client"
cp "$here"/../../clients/emacs/*.el "$home/client"
(cd "$home/client" && emacs -Q --batch -L . -f batch-byte-compile *.el)
env -i PATH="$home/bin:$PATH" HOME="$home" LANG=C.UTF-8 TERM=xterm-256color XDG_RUNTIME_DIR="$home/run" \
  PROFD_BENCH_ROOT="$home/src" emacs -Q --batch -L "$home/client" -l "$here/typing.el" </dev/null
