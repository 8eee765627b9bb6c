"""Runs the Python codec over the generated test data: codec_test.py FOLDER. What a file's name says must hold."""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "clients" / "python"))

from profd import protocol  # noqa: E402
from profd.codec import DecodeError  # noqa: E402


def main(folder: str) -> int:
    checked = wrong = 0
    for path in sorted(Path(folder).iterdir()):
        match = re.fullmatch(r"(\w+)-(valid|invalid)-\d+\.json", path.name)
        if match is None:
            continue
        checked += 1
        structure = getattr(protocol, match[1])
        value = json.loads(path.read_text(encoding="utf-8"))
        fault = None
        try:
            decoded = structure.from_json(value)
            encoded = decoded.to_json()
            if structure.from_json(encoded).to_json() != encoded:
                fault = "changes in a round trip"
        except DecodeError as error:
            fault = str(error)
        if (fault is None) != (match[2] == "valid"):
            wrong += 1
            print(f"{path.name}: {fault or 'taken, though it is invalid'}", file=sys.stderr)
    print(f"{checked} files checked, {wrong} wrong")
    return 0 if checked > 1000 and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
