#!/usr/bin/env python3
"""What was on the wire once stays there: compares psp.json with the snapshots of what clients were built against.

usage: wire_compat.py PROTOCOL_FOLDER              compare with every psp.v*.json in it
       wire_compat.py PROTOCOL_FOLDER --snapshot K  write psp.vK.json, on a release
"""
import copy
import json
import sys
from pathlib import Path

# What a reader of the wire never sees.
SILENT = ("documentation", "example", "since", "lane", "limits", "default", "serverCapability", "clientCapability")
KINDS = ("requests", "notifications", "structures", "enumerations", "typeAliases")
KEY = {"requests": "method", "notifications": "method"}
# Fields that have grown for LSP's own clients alone: who has the native methods is sent what there was.
GATED = ("ServerCapabilities.inlayHintProvider",)


def wire(node):
    """The model without what is not on the wire."""
    if isinstance(node, dict):
        return {key: wire(value) for key, value in node.items() if key not in SILENT}
    return [wire(item) for item in node] if isinstance(node, list) else node


def by_name(model, kind):
    return {item[KEY.get(kind, "name")]: item for item in model.get(kind, [])}


def sent_by(model, clients):
    """What clients fill (params to the server, results from them, and everything inside); else what the server does."""
    structures, found = by_name(model, "structures"), set()
    aliases = by_name(model, "typeAliases")

    def visit(node):
        if isinstance(node, list):
            for item in node:
                visit(item)
        elif isinstance(node, dict):
            if node.get("kind") == "reference" and node["name"] not in found:
                found.add(node["name"])
                visit(structures.get(node["name"], aliases.get(node["name"], {})))
            for value in node.values():
                visit(value)

    for kind in ("requests", "notifications"):
        for message in model.get(kind, []):
            if message["messageDirection"] in ("clientToServer", "both"):
                visit(message.get("params" if clients else "result", {}))
            if message["messageDirection"] in ("serverToClient", "both"):
                visit(message.get("result" if clients else "params", {}))
    return found


def has_grown(old, new):
    """A union that takes more than it did."""
    return old.get("kind") == "or" and new.get("kind") == "or" and all(item in new["items"] for item in old["items"])


def structure_breaks(name, old, new, is_sent):
    olds, news = ({p["name"]: p for p in s.get("properties", [])} for s in (old, new))
    for field, was in olds.items():
        now = news.get(field)
        if now is None:
            yield f"{name}.{field} is gone"
        elif was["type"] != now["type"] and f"{name}.{field}" not in GATED:
            yield f"{name}.{field} has another type"
        elif not was.get("optional") and now.get("optional"):
            yield f"{name}.{field} was always there and is optional now"
        elif is_sent and was.get("optional") and not now.get("optional"):
            yield f"{name}.{field} could be left out and is required now"
    for field, now in news.items():
        if field not in olds and is_sent and not now.get("optional"):
            yield f"{name}.{field} is new and required: older clients do not send it"
    if old.get("mixins", []) != [m for m in new.get("mixins", []) if m in old.get("mixins", [])]:
        yield f"{name} lost a mixin"


def breaks(old, new):
    sent, received = sent_by(old, True), sent_by(old, False)
    for kind in KINDS:
        olds, news = by_name(old, kind), by_name(new, kind)
        for name, was in olds.items():
            now = news.get(name)
            if now is None:
                yield f"{kind}: {name} is gone"
            elif kind == "structures":
                yield from structure_breaks(name, was, now, name in sent)
            elif kind == "enumerations":
                values = {value["name"]: value["value"] for value in now["values"]}
                for value in was["values"]:
                    if values.get(value["name"]) != value["value"]:
                        yield f"{name}.{value['name']} is gone or is another value"
            elif kind == "typeAliases":
                if was["type"] != now["type"] and not (name not in received and has_grown(was["type"], now["type"])):
                    yield f"{name} is another type"
            else:
                for part in ("messageDirection", "params", "result"):
                    if was.get(part) != now.get(part):
                        yield f"{name}: other {part}"


def check_the_check(model):
    """A test that cannot fail proves nothing: every kind of break is made, and must be found."""

    def structure(changed, name):
        return next(s for s in changed["structures"] if s["name"] == name)

    def drop_method(changed):
        changed["requests"].pop()

    def drop_field(changed):
        structure(changed, "ProfileOpenResult")["properties"].pop(0)

    def loosen_field(changed):
        structure(changed, "ProfileOpenResult")["properties"][0]["optional"] = True

    def demand_field(changed):
        structure(changed, "OpenOptions")["properties"][0].pop("optional")

    def add_demand(changed):
        structure(changed, "ProfileOpenParams")["properties"].append(
            {"name": "extra", "type": {"kind": "base", "name": "string"}})

    def drop_value(changed):
        changed["enumerations"][0]["values"].pop()

    def change_type(changed):
        structure(changed, "Measure")["properties"][0]["type"] = {"kind": "base", "name": "string"}

    def alias(changed, name):
        return next(a for a in changed["typeAliases"] if a["name"] == name)

    def shrink_union(changed):
        alias(changed, "ZoomTarget")["type"]["items"].pop(0)

    def grow_received_union(changed):
        alias(changed, "ProgressToken")["type"]["items"].append({"kind": "base", "name": "boolean"})

    for change in (drop_method, drop_field, loosen_field, demand_field, add_demand, drop_value, change_type, shrink_union,
                   grow_received_union):
        changed = copy.deepcopy(model)
        change(changed)
        if not list(breaks(model, changed)):
            raise SystemExit(f"wire_compat: {change.__name__} is not noticed")
    grown = copy.deepcopy(model)
    structure(grown, "ProfileOpenResult")["properties"].append({"name": "extra", "type": {"kind": "base", "name": "string"}})
    structure(grown, "OpenOptions")["properties"].append(
        {"name": "extra", "optional": True, "type": {"kind": "base", "name": "string"}})
    grown["enumerations"][0]["values"].append({"name": "extra", "value": -1})
    alias(grown, "ZoomTarget")["type"]["items"].append({"kind": "base", "name": "boolean"})
    if found := list(breaks(model, grown)):
        raise SystemExit(f"wire_compat: growing is refused: {found}")


def main():
    folder = Path(sys.argv[1])
    model = wire(json.loads((folder / "psp.json").read_text()))
    if "--snapshot" in sys.argv:
        path = folder / f"psp.v{int(sys.argv[sys.argv.index('--snapshot') + 1])}.json"
        lines = [f"{json.dumps(kind)}: [\n" + ",\n".join(json.dumps(item) for item in model[kind]) + "\n]" for kind in KINDS]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return 0
    check_the_check(model)
    snapshots = sorted(folder.glob("psp.v*.json"))
    if not snapshots:
        raise SystemExit("wire_compat: there is no psp.v*.json to compare with")
    found = [f"{path.name}: {what}" for path in snapshots for what in breaks(json.loads(path.read_text()), model)]
    for what in found:
        print(what, file=sys.stderr)
    print(f"{len(snapshots)} snapshots, {len(found)} breaks")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
