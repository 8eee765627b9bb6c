#!/usr/bin/env python3
"""What the message classes that OpenTelemetry publishes for Python find in a file: totals and values by function.

usage: otlp_totals.py FILE; needs the package opentelemetry-proto. Prints one JSON object a profile, in a list.
"""
import collections
import json
import sys

from opentelemetry.proto.profiles.v1development import profiles_pb2

message = profiles_pb2.ProfilesData()
with open(sys.argv[1], "rb") as file:
    message.ParseFromString(file.read())
tables = message.dictionary
text = tables.string_table
for table in (tables.mapping_table, tables.location_table, tables.function_table, tables.link_table, tables.attribute_table,
              tables.stack_table):
    assert not table[0].ByteSize(), "row 0 of a table is not empty"
assert text[0] == "" and len(set(text)) == len(text)


def name_of(location):
    """Its innermost function, or its module's name in brackets."""
    if location.lines:
        return text[tables.function_table[location.lines[0].function_index].name_strindex]
    module = text[tables.mapping_table[location.mapping_index].filename_strindex]
    return f"[{module.rsplit('/', 1)[-1]}]" if module else "[unknown]"


def names_of(location):
    return [text[tables.function_table[line.function_index].name_strindex] for line in location.lines] or [name_of(location)]


def attributes_of(sample):
    found = {}
    for index in sample.attribute_indices:
        attribute = tables.attribute_table[index]
        kind = attribute.value.WhichOneof("value")
        found[text[attribute.key_strindex]] = getattr(attribute.value, kind)
    return found


out = []
for resource in message.resource_profiles:
    for scope in resource.scope_profiles:
        for profile in scope.profiles:
            own, inclusive, threads, n_times = collections.Counter(), collections.Counter(), set(), 0
            for sample in profile.samples:
                assert sample.values or sample.timestamps_unix_nano
                assert not (sample.values and sample.timestamps_unix_nano) or len(sample.values) == len(sample.timestamps_unix_nano)
                value = sum(sample.values) if sample.values else len(sample.timestamps_unix_nano)
                locations = [tables.location_table[i] for i in tables.stack_table[sample.stack_index].location_indices]
                own[name_of(locations[0]) if locations else ""] += value
                for name in {name for location in locations for name in names_of(location)}:
                    inclusive[name] += value
                found = attributes_of(sample)
                threads.add((found.get("thread.id"), found.get("thread.name")))
                n_times += len(sample.timestamps_unix_nano)
            out.append({"metric": text[profile.sample_type.type_strindex], "unit": text[profile.sample_type.unit_strindex],
                        "total": sum(own.values()), "self": own, "inclusive": inclusive, "times": n_times,
                        "threads": len(threads - {(None, None)})})
json.dump(out, sys.stdout)
