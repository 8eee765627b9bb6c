"""The messages of protocol/live.json for agents' own writers, and what these are to come to."""
import os

from plive import BY_NAME, KINDS, MODEL, ROOT, STRUCTURES

KIND_OF = {name: number for number, name in KINDS.items()}


def words_of(fields, example):
    """Fields of an example as `v` with a number, `s` with a text in hexadecimal, `m` with bytes as they are."""
    words = []
    for field in fields:
        one, kind = example[field["name"]], field["type"]
        if kind == "varint" or kind.startswith("enum "):
            words.append(f"v{one}")
        elif kind == "magic":
            words.append("m" + one.encode().hex())
        elif kind == "string":
            words.append("s" + one.encode().hex())
        elif kind == "ids":
            words += [f"v{each}" for each in one]
        elif kind == "records":
            for record in one:
                words.append(f"v{record['delta'] * 4 + KIND_OF[record['kind']]}")
                if "id" in record:
                    words.append(f"v{record['id']}")
                if "operation" in record:
                    words += [f"v{record['operation']}", "s" + record["bytes"].encode().hex()]
        else:
            for entry in one:
                words += words_of(STRUCTURES[kind.split()[1]]["fields"], entry)
    return words


def lines():
    return "".join(" ".join([str(m["type"]), *words_of(m["fields"], m["example"])]) + "\n" for m in MODEL["messages"])


def expected():
    """The bytes, from the file that follows from the declaration."""
    with open(os.path.join(ROOT, "tests", "fixtures", "live", "golden.txt"), encoding="utf-8") as file:
        named = dict(line.split() for line in file)
    assert set(named) == set(BY_NAME)
    return b"".join(bytes.fromhex(named[m["name"]]) for m in MODEL["messages"])
