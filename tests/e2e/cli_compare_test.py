#!/usr/bin/env python3
"""Comparing on the command line: against the figures of the profilers' own tools, on recorded pairs.

usage: cli_compare_test.py PROFD
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import unittest

from cli_program import PROFD, ROOT, InFolder, run

RECORDED = os.path.join(ROOT, "tests/fixtures/compare")
BEFORE_AFTER = os.path.join(RECORDED, "before-after")


def output(*arguments, code=0, cwd=None):
    environment = dict(os.environ, PROFD_CACHE="off")
    done = subprocess.run([PROFD, *arguments], capture_output=True, env=environment, stdin=subprocess.DEVNULL, timeout=120,
                          cwd=cwd)
    assert done.returncode == code, (arguments, done.returncode, done.stderr.decode())
    return done.stdout.decode()


def answer(*arguments):
    return json.loads(output(*arguments, "--json"))


def runs(side):
    return [os.path.join(BEFORE_AFTER, f"{side}-{n}.pb.gz") for n in range(1, 6)]


def pprof_rows(path, section=""):
    """name -> (flat, cum) of a report in units; of several reports in one file that below the line `section`."""
    rows = {}
    inside = section == ""
    with open(path, encoding="utf-8") as report:
        for line in report:
            if line.startswith("sample_index="):
                inside = line.strip() == section
            if not inside:
                continue
            found = re.match(r"\s*(-?\d+)(?:ns|B)?\s+[\d.]+%\s+-?[\d.]+%\s+(-?\d+)(?:ns|B)?\s+[\d.]+%\s+(\S.*)$", line)
            if found:
                rows[found[3].replace(" (inline)", "").strip()] = (int(found[1]), int(found[2]))
    assert rows, path
    return rows


def changes(result):
    rows, columns = result["rows"], result["changes"]
    return {result["names"][rows["name"][i]]: (columns["selfAfter"][i] - columns["selfBefore"][i],
                                               columns["totalAfter"][i] - columns["totalBefore"][i])
            for i in range(len(rows["name"]))}


class Compare(InFolder):
    def compare_with_pprof(self, report, found, section=""):
        expected = pprof_rows(report, section)
        for name, (flat, cum) in expected.items():
            self.assertEqual(found.pop(name, (0, 0)), (flat, cum), name)
        # pprof lists what is not 0 in flat or cum.
        self.assertEqual({name: row for name, row in found.items() if row != (0, 0)}, {})

    def test_lines_of_a_function_add_up_to_its_change(self):
        # The program after the change, older than both recordings; nobody knows what it was before.
        folder = os.path.join(self.folder.name, "parcels")
        os.mkdir(folder)
        for name in os.listdir(os.path.join(BEFORE_AFTER, "after")):
            copy = shutil.copy(os.path.join(BEFORE_AFTER, "after", name), folder)
            os.utime(copy, (1577836800, 1577836800))
        pair = ["--base", os.path.join(BEFORE_AFTER, "before-1.pb.gz"), os.path.join(BEFORE_AFTER, "after-1.pb.gz")]

        def listed(name, *options):
            return output("list", name, *pair, *options, cwd=folder)

        rows = list(csv.DictReader(io.StringIO(listed("main.parseRow", "--csv"))))
        of_self = sum(int(row["self"]) - int(row["self_before"]) for row in rows if row["self"])
        self.assertEqual(of_self, pprof_rows(os.path.join(BEFORE_AFTER, "expected-diff-1-top.txt"))["main.parseRow"][0])
        called = [row for row in csv.DictReader(io.StringIO(listed("main.readParcels", "--csv")))
                  if "parseRow(seed" in row["text"]]
        self.assertEqual([(row["line"], row["total_before"], row["total"], row["stale"]) for row in called],
                         [("19", "3470000000", "4760000000", "1")])
        self.assertRegex(listed("main.readParcels"), r" 3\.47 s +~4\.76 s +\+1\.29 s \(\+37 %\) +19 ")

    def test_changes_of_a_pair_are_those_of_pprof(self):
        result = answer("diff", "-n", "0", os.path.join(BEFORE_AFTER, "before-1.pb.gz"), os.path.join(BEFORE_AFTER, "after-1.pb.gz"))
        self.compare_with_pprof(os.path.join(BEFORE_AFTER, "expected-diff-1-top.txt"), changes(result))
        self.assertEqual(result["sides"]["runsBefore"], 1)

    def test_changes_of_a_heap_are_those_of_pprof(self):
        folder = os.path.join(RECORDED, "heap-snapshots")
        for metric in ("inuse_objects", "inuse_space"):
            result = answer("diff", "-n", "0", "--metric", f"{metric} larger", os.path.join(folder, "01.pb.gz"), os.path.join(folder, "20.pb.gz"))
            self.compare_with_pprof(os.path.join(folder, "expected-diff-first-last-top.txt"), changes(result), f"sample_index={metric}")

    def test_several_runs_are_their_mean(self):
        result = answer("diff", "-n", "0", "--base", *runs("before"), "--head", *runs("after"))
        self.assertEqual((result["sides"]["runsBefore"], result["sides"]["runsAfter"]), (5, 5))
        sums = {name: (round(flat * 5), round(cum * 5)) for name, (flat, cum) in changes(result).items()}
        self.compare_with_pprof(os.path.join(BEFORE_AFTER, "expected-diff-all-top.txt"), sums)

    def test_what_was_planted_stands_out_and_nothing_else_does(self):
        planted = {"main.foldSum", "main.checkLegacyCodes", "main.attachLabels", "main.summarise", "main.orderByWeight", "main.rankByWeight", "main.parseRow"}

        def marked(*arguments):
            result = answer("diff", "-n", "0", *arguments)
            columns, rows = result["changes"], result["rows"]
            names = [result["names"][name] for name in rows["name"]]
            return ({name for name, standing in zip(names, columns["selfStanding"]) if standing == 2},
                    {name for name, standing in zip(names, columns["totalStanding"]) if standing == 2}, result)

        selfs, totals, result = marked(os.path.join(BEFORE_AFTER, "before-1.pb.gz"), os.path.join(BEFORE_AFTER, "after-1.pb.gz"))
        self.assertEqual(selfs, planted)
        self.assertEqual(totals, planted - {"main.summarise"} | {"main.readParcels"})
        self.assertIn("One run of each side", result["sides"]["verdict"])
        self.assertIn("beyond sampling noise", result["sides"]["verdict"])
        for one, other in ((1, 2), (2, 3), (3, 4), (4, 5)):
            for side in ("before", "after"):
                selfs, totals, result = marked(*(os.path.join(BEFORE_AFTER, f"{side}-{n}.pb.gz") for n in (one, other)))
                self.assertEqual((selfs, totals), (set(), set()), (side, one, other))
                self.assertIn("would be missed", result["sides"]["verdict"])
        selfs, totals, result = marked("--base", *runs("before"), "--head", *runs("after"))
        self.assertLessEqual({"main.foldSum", "main.checkLegacyCodes", "main.attachLabels", "main.parseRow"}, selfs)
        self.assertLessEqual(selfs, planted)
        self.assertIn("run-to-run noise", result["sides"]["verdict"])

    def test_runs_of_one_program_that_differ_in_depth_alone_are_the_same_once_recursion_is_collapsed(self):
        folder = os.path.join(RECORDED, "recursion-depth")
        pair = ["--base", os.path.join(folder, "directly-4.pb.gz"), os.path.join(folder, "directly-12.pb.gz")]
        for metric in ("alloc_space", "alloc_objects", "inuse_space", "inuse_objects"):
            for shape in ("top-down", "bottom-up"):
                unfolded = answer("tree", *pair, "--spec", f'{shape} | metric "{metric} difference"')
                collapsed = answer("tree", *pair, "--spec", f'{shape} | collapse recursion | metric "{metric} difference"')
                self.assertEqual(collapsed["viewTotal"]["value"], 0, (metric, shape))
                if metric.startswith("alloc"):
                    self.assertGreater(unfolded["viewTotal"]["value"], 0, (metric, shape))

    def test_two_builds_in_two_folders_are_one_program(self):
        folder = os.path.join(RECORDED, "two-builds")
        matched = {}
        for other in ("clones", "renamed-root"):
            result = answer("tree", "--base", os.path.join(folder, "plain.perf.txt.gz"), os.path.join(folder, f"{other}.perf.txt.gz"), "--min-share", "0")
            before, after = result["changes"]["before"], result["changes"]["after"]
            parents = set(result["boxes"]["parent"])
            leaves = [i for i in range(len(before)) if i not in parents]
            both = sum(after[i] for i in leaves if before[i] and after[i])
            matched[other] = both / sum(after[i] for i in leaves)
        self.assertGreaterEqual(matched["clones"], 0.99, matched)
        self.assertLess(matched["renamed-root"], 0.1, matched)

    def test_the_leak_is_told_from_caches(self):
        snapshots = [os.path.join(RECORDED, "heap-snapshots", f"{n:02}.pb.gz") for n in range(1, 21)]
        result = answer("leaks", *snapshots)
        self.assertEqual(result["metric"], "inuse_space")
        kinds = {}
        for row in result["rows"]:
            kinds.setdefault(row["kind"], []).append(row["path"])
        # All allocate in newEntry: only the path tells them apart.
        self.assertEqual(["main.subscribe" in path for path in kinds["rising"]], [True])
        self.assertTrue(any("main.openSession" in path for path in kinds["reclaimed"]))
        self.assertFalse(any("main.renderTemplate" in path for paths in kinds.values() for path in paths))
        self.assertEqual(len(result["rows"][0]["series"]), 20)
        self.assertIn("1 path grows", output("leaks", *snapshots))
        self.assertIn("a trend needs 4 snapshots", run("leaks", *snapshots[:3], code=1).stderr.decode())

    def test_the_rank_that_all_wait_for_is_found(self):
        ranks = [os.path.join(RECORDED, "ranks", f"rank-{n}.perf.txt.gz") for n in range(4)]
        result = answer("aggregate", "--sort", "lost", *ranks)
        names = [result["names"][name] for name in result["rows"]["name"]]
        self.assertEqual(names[0], "heat::refine(unsigned long, int)")
        series, lost = result["columns"]["series"][0], result["columns"]["lost"]
        self.assertEqual((max(series), series.index(max(series))), (1041, 2))
        self.assertAlmostEqual(lost[0], (max(series) - sum(series) / 4) * 4)
        self.assertLess(lost[1], lost[0] / 20)
        rows = list(csv.DictReader(io.StringIO(output("aggregate", "--csv", "-n", "0", *ranks))))
        self.assertEqual(list(rows[0])[4:], [os.path.basename(rank) for rank in ranks])
        self.assertEqual(next(row for row in rows if row["name"].startswith("heat::refine"))["rank-2.perf.txt.gz"], "1041")

    def test_every_command_says_the_same_of_a_diff(self):
        pair = ["--base", os.path.join(BEFORE_AFTER, "before-1.pb.gz"), os.path.join(BEFORE_AFTER, "after-1.pb.gz")]
        summary = answer("summary", *pair)
        totals = {metric["name"]: metric["total"] for metric in summary["metrics"]}
        self.assertEqual(totals["cpu change"], totals["cpu"] - totals["cpu before"])
        for metric, total in totals.items():
            for command in ("top", "tree"):
                self.assertEqual(answer(command, *pair, "--metric", metric)["total"]["value"], total, (command, metric))
        text = output("summary", *pair)
        self.assertIn("before-1.pb.gz → after-1.pb.gz", text)
        self.assertNotIn("line numbers", text)
        self.assertNotIn("pprof files hold lines", output("list", "main.parseRow", *pair))
        # Shares of a change are of the larger side: what grew and what shrank cancel out.
        change = answer("top", *pair, "--metric", "cpu change")
        self.assertTrue(all(-1 <= float(share.split()[0].strip("<≈")) / 100 <= 1 for share in change["rows"]["selfShare"]))
        refused = run("convert", *pair[2:], os.path.join(self.folder.name, "x.folded"))
        self.assertEqual(refused.returncode, 0)
        uri = f"diff://?before={pair[1]}&after={pair[2]}"
        self.assertIn("a comparison is no profile", run("convert", uri, os.path.join(self.folder.name, "d.pb.gz"), code=1).stderr.decode())
        run("convert", uri, os.path.join(self.folder.name, "d.csv"))

    def test_rows_for_scripts_have_the_columns_that_are_documented(self):
        text = output("diff", "--csv", "-n", "0", os.path.join(BEFORE_AFTER, "before-1.pb.gz"), os.path.join(BEFORE_AFTER, "after-1.pb.gz"))
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(list(rows[0])[:5], ["tag", "name", "file", "line", "module"])
        by_name = {row["name"]: row for row in rows}
        self.assertEqual(by_name["main.checkLegacyCodes"]["tag"], "[D]")
        self.assertEqual(by_name["main.attachLabels"]["tag"], "[A]")
        for row in rows:
            self.assertEqual(int(row["self_head"]) - int(row["self_base"]), int(row["self_delta"]))

    def test_what_makes_two_profiles_hard_to_compare_is_said(self):
        folder = os.path.join(RECORDED, "before-after-timed")
        text = output("diff", os.path.join(folder, "before-1.perf.txt.gz"), os.path.join(folder, "after-1.perf.txt.gz"))
        self.assertIn("durations differ", text)
        self.assertIn("multiplied by", text)
        raw = output("diff", "--scale", "raw", os.path.join(folder, "before-1.perf.txt.gz"), os.path.join(folder, "after-1.perf.txt.gz"))
        self.assertIn("values are as measured", raw)

    def test_what_cannot_be_compared_is_refused_with_both_names(self):
        cpu = os.path.join(BEFORE_AFTER, "before-1.pb.gz")
        heap = os.path.join(RECORDED, "heap-snapshots", "01.pb.gz")
        self.assertIn("no metric in common", run("diff", cpu, heap, code=1).stderr.decode())
        run("diff", cpu, code=2)
        self.assertIn("/nowhere/x.pprof", run("diff", cpu, "/nowhere/x.pprof", code=1).stderr.decode())

    def test_a_picture_of_a_diff_says_both_sides(self):
        page = os.path.join(self.folder.name, "changes.svg")
        output("flame", "--base", os.path.join(BEFORE_AFTER, "before-1.pb.gz"), os.path.join(BEFORE_AFTER, "after-1.pb.gz"), "-o", page)
        with open(page, encoding="utf-8") as text:
            text = text.read()
        self.assertRegex(text, r"main\.parseRow\n[^<]*\n\[\+\] 3\.47 s → 4\.76 s: \+1\.29 s \(\+37 %\)")
        self.assertRegex(text, r"main\.checkLegacyCodes\n[^<]*\n?\[D\]")


if __name__ == "__main__":
    unittest.main()
