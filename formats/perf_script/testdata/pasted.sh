#!/usr/bin/env bash
# Writes pasted.txt: the first samples of recorded-two-events.txt as they come out of a page that drops the blanks at the
# beginning of lines, and empty lines.
set -euo pipefail
cd "$(dirname "$0")"
grep -v '^#' recorded-two-events.txt | sed -E 's/^[[:blank:]]+//' | grep . | head -60 >pasted.txt
