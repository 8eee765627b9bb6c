#!/usr/bin/env python3
"""Writes the folders of this folder's tests as tar archives."""
import io
import os
import tarfile

here = os.path.dirname(os.path.abspath(__file__))
META = "<metadata><attribute><name>Metric Name</name><value>{}</value></attribute><attribute><name>Executable</name><value>/bin/app &amp; co</value></attribute><attribute><name>Starting Timestamp</name><value>1600000000000000</value></attribute></metadata>"


def profile(metric, rows, events=()):
    out = [f"{len(rows)} templated_functions_MULTI_{metric}", "# Name Calls Subrs Excl Incl ProfileCalls # " + META.format(metric)]
    out += [f'"{n}" {c} 0 {e} {i} 0 GROUP="{g}" ' for n, c, e, i, g in rows]
    out += ["0 aggregates"]
    if events:
        out += [f"{len(events)} userevents", "# eventname numevents max min mean sumsqr"]
        out += [f'"{n}" {k} 0 0 {m} 0' for n, k, m in events]
    return ("\n".join(out) + "\n").encode()


def timers(scale):
    main = "int main(int, char **) C [{main.c} {5,1}-{17,1}]"
    return [
        (".TAU application", 1, 10 * scale, 100 * scale, "TAU_DEFAULT"),
        (main, 1, 30 * scale, 90 * scale, "TAU_USER"),
        (f".TAU application => {main}", 1, 30 * scale, 90 * scale, "TAU_CALLPATH|TAU_USER"),
        ('say "hi"', 3, 60 * scale, 60 * scale, "TAU_USER | IO"),
        (f'.TAU application => {main}  => say "hi"', 3, 60 * scale, 60 * scale, "TAU_CALLPATH|TAU_USER|IO"),
    ]


def sampled():
    main = "main [{main.c} {5,1}]"
    return [
        (".TAU application", 1, 10, 100, "TAU_DEFAULT"),
        (main, 1, 90, 90, "TAU_USER"),
        (f".TAU application => {main}", 1, 90, 90, "TAU_CALLPATH|TAU_USER"),
        ("[SAMPLE] work [{main.c} {9}]", 8, 80, 80, "TAU_SAMPLE"),
        (f".TAU application => {main} => [CONTEXT] {main}", 8, 80, 80, "TAU_SAMPLE_CONTEXT|TAU_CALLPATH"),
        (f".TAU application => {main} => [CONTEXT] {main} => [SUMMARY] work [{{main.c}}]", 8, 80, 80, "TAU_SAMPLE|TAU_CALLPATH"),
        (f".TAU application => {main} => [CONTEXT] {main} => [SUMMARY] work [{{main.c}}] => [SAMPLE] work [{{main.c}} {{9}}]", 8, 80, 80, "TAU_SAMPLE|TAU_CALLPATH"),
        ("work [ <n> = <3> ]", 1, 5, 5, "TAU_PARAM | TAU_USER"),
    ]


def limited():
    rows = [("root", 1, 1, 10, "A"), ("a", 1, 2, 9, "A"), ("b", 1, 3, 7, "A"), ("c", 1, 4, 4, "A")]
    return rows + [(f"{x} => {y}", 1, e, i, "TAU_CALLPATH|A") for x, y, e, i in (("root", "a", 2, 9), ("b", "c", 4, 4), ("a", "b", 3, 7))]


def write(name, files):
    with tarfile.open(os.path.join(here, name), "w", format=tarfile.USTAR_FORMAT) as tar:
        for file, data in files:
            info = tarfile.TarInfo(file)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


events = [("Heap", 3, 2.5), ("Heap : main => say", 2, 2.0), ("Bytes", 4, 8)]
write("multi.tar", [(f"MULTI__{m}/profile.{n}.0.0", profile(m, timers(s * (n + 1)), events)) for m, s in (("TIME", 1), ("PAPI_TOT_CYC", 1000)) for n in (0, 1)])
for name, rows in (("sampled.txt", sampled()), ("limited-depth.txt", limited()), ("flat.txt", timers(1)[:2])):
    with open(os.path.join(here, name), "wb") as f:
        f.write(profile("TIME", rows))
with open(os.path.join(here, "corrupt-truncated.txt"), "wb") as f:
    f.write(profile("TIME", timers(1))[:600])
