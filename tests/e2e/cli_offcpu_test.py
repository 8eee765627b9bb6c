#!/usr/bin/env python3
"""profd offcpu: states of threads and chains, of one recording as perf.data and as text.

usage: cli_offcpu_test.py PROFD
"""
import gzip
import json
import os
import unittest

from cli_program import ROOT, InFolder, run

DATA = os.path.join(ROOT, "formats/perf_data/testdata/recorded-waits.data")
TEXT = os.path.join(ROOT, "formats/perf_script/testdata/recorded-waits.txt.gz")
STATES = ("onCpu", "blocked", "runnable", "unknown")


def states(path, *options):
    return json.loads(run("offcpu", "--json", *options, path).stdout)


class OffCpu(InFolder):
    def test_states_come_to_the_wall_time_of_each_thread_in_both_forms(self):
        of_data, of_text = states(DATA), states(TEXT)
        for answer in (of_data, of_text):
            self.assertEqual(answer["threadCount"], 3)
            for row in answer["threads"] + [answer["all"]]:
                self.assertEqual(row["wall"]["value"], sum(row[state]["value"] for state in STATES), row["name"])
        numbers = [[{key: row[key]["value"] for key in ("wall", *STATES)} for row in answer["threads"]] for answer in (of_data, of_text)]
        self.assertEqual(numbers[0], numbers[1])

    def test_chains_come_to_what_is_blocked_and_the_largest_ends_in_the_sleep_of_io(self):
        answer = states(TEXT, "-n", "0")
        self.assertEqual(sum(chain["amount"]["value"] for chain in answer["chains"]), answer["all"]["blocked"]["value"])
        self.assertEqual(len(answer["chains"]), answer["chainCount"])
        of_main = states(TEXT, "-n", "0", "--filter", "thread waits")["chains"]
        frames = of_main[0]["frames"]
        self.assertEqual(frames[0], "waits")
        self.assertEqual(frames.count("--"), 2)
        self.assertIn("read_slowly", frames)
        self.assertEqual(frames[-1], "(interrupt)")

    def test_metrics_of_states_are_those_of_every_command(self):
        answer = states(TEXT)
        total = {name: json.loads(run("top", "--json", "--metric", name, TEXT).stdout)["total"]["value"]
                 for name in ("wall", "on-cpu", "blocked", "runnable", "unknown", "chains")}
        self.assertEqual(total["wall"], answer["all"]["wall"]["value"])
        self.assertEqual(total["wall"], total["on-cpu"] + total["blocked"] + total["runnable"] + total["unknown"])
        self.assertEqual(total["chains"], total["blocked"])

    def test_a_window_of_time_cuts_states(self):
        answer = states(TEXT, "--filter", "thread worker", "--filter", "time 20ms..70ms")
        self.assertEqual(answer["all"]["wall"]["value"], 50_000_000)

    def test_what_cannot_be_made_is_said_in_a_sentence(self):
        with gzip.open(TEXT, "rt") as file:
            text = file.read()
        sampled = self.file("sampled.perf.txt", text.replace(":          1  sched:sched_switch:", ":          7  sched:sched_switch:"))
        self.assertIn("were sampled, not all of them recorded", run("offcpu", sampled, code=1).stderr.decode())
        samples = "\n\n".join(part for part in text.split("\n\n") if "sched:sched_waking" not in part)
        without = run("offcpu", self.file("no-wakings.perf.txt", samples)).stdout.decode()
        self.assertIn("(waker unknown)", without)
        self.assertIn("perf record -a", run("offcpu", os.path.join(ROOT, "formats/perf_script/testdata/minimal.txt"), code=1).stderr.decode())


if __name__ == "__main__":
    unittest.main()
