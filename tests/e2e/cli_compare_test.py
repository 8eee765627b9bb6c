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

    def matched(self, *arguments):
        """Of the cost after, the part that lies at paths that both sides have."""
        result = answer("tree", *arguments, "--min-share", "0")
        before, after = result["changes"]["before"], result["changes"]["after"]
        parents = set(result["boxes"]["parent"])
        leaves = [i for i in range(len(before)) if i not in parents]
        return sum(after[i] for i in leaves if before[i] and after[i]) / sum(after[i] for i in leaves)

    def test_two_builds_in_two_folders_are_one_program(self):
        folder = os.path.join(RECORDED, "two-builds")
        builds = {name: os.path.join(folder, f"{name}.perf.txt.gz") for name in ("plain", "clones", "lto")}
        for before, after in (("plain", "clones"), ("plain", "lto"), ("lto", "clones"), ("lto", "plain")):
            self.assertGreaterEqual(self.matched("--base", builds[before], builds[after]), 0.99, (before, after))

    def test_two_runs_of_a_java_program_are_one_whatever_its_lambdas_and_proxies_are_numbered(self):
        folder = os.path.join(RECORDED, "two-builds")
        hidden = ["--spec", "top-down | keep function Orders.main"]  # the compilers' own threads are never the same
        for ending in ("collapsed.txt", "jfr.gz"):
            runs_of = [os.path.join(folder, f"java-{run}.{ending}") for run in ("first", "second")]
            self.assertGreaterEqual(self.matched("--base", *runs_of, *hidden), 0.99, ending)

    def test_a_renamed_root_is_suggested_and_matched_when_asked(self):
        pair = [os.path.join(RECORDED, "two-builds", f"{name}.perf.txt.gz") for name in ("plain", "renamed-root")]
        self.assertLess(self.matched("--base", *pair), 0.1)
        first = answer("diff", *pair)["sides"]["suggested"][0]
        self.assertEqual((first["before"], first["after"]), ("settle_all(int)", "settle_everything(int)"))
        self.assertGreater(first["share"], 0.99)
        text = output("diff", *pair)
        self.assertRegex(text, r"perhaps renamed: settle_all\(int\) -> settle_everything\(int\) \(same callees [01][.]\d\d\): "
                               r"--rename 'settle_all\(int\)=settle_everything\(int\)' or --match=suggested")
        for how in (["--match=suggested"], ["--rename", first["rename"]], ["--rename", "settle_all=settle_everything"],
                    ["--rename", "/^settle_a.*?(\\(.*)/=settle_everything$1"]):
            self.assertGreaterEqual(self.matched("--base", *pair, *how), 0.99, how)
        self.assertIn("1 name renamed by 1 rule", output("diff", "--rename", first["rename"], *pair))
        self.assertIn("the rule nobody=any is of no name", run("diff", "--rename", "nobody=any", *pair).stderr.decode())
        for command in ("diff", "top"):
            self.assertIn("is no pair of names", run(command, *pair[:1], "--rename", "x", code=2).stderr.decode())
        self.assertIn("are of a comparison", run("top", pair[0], "--rename", "a=b", code=1).stderr.decode())

    def test_an_extracted_helper_and_a_renamed_function_are_no_regression(self):
        pair = [os.path.join(BEFORE_AFTER, f"{side}-1.pb.gz") for side in ("before", "after")]
        for arguments in (pair, ["--base", *runs("before"), "--head", *runs("after")]):
            sides = answer("diff", *arguments)["sides"]
            moved = {(tuple(shift["from"]), tuple(shift["to"])) for shift in sides["shifts"]}
            self.assertIn((("main.summarise",), ("main.foldSum",)), moved)
            self.assertRegex(sides["shifts"][0]["text"], r"^1[.]\d+ s moved from main[.]summarise to main[.]foldSum, net [+-]\d+[.]\d %$")
            self.assertNotIn("main.foldSum", sides["verdict"])
            self.assertIn("main.parseRow", sides["verdict"])
            self.assertIn(("main.rankByWeight", "main.orderByWeight"), {(s["before"], s["after"]) for s in sides["suggested"]})
            worst = answer("diff", "--sort", "worse", "-n", "1", *arguments)
            self.assertEqual(worst["names"][worst["rows"]["name"][0]], "main.parseRow")
        broken = run("gate", "--base", *runs("before"), "--head", *runs("after"), "--rule", "new < 1%", "--rule",
                     "self(main.foldSum) < +5%", code=1).stdout.decode()
        self.assertIn("moved from main.summarise to main.foldSum, net", broken)

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

    def test_what_each_snapshot_has_of_a_function_is_what_pprof_says(self):
        snapshots = [os.path.join(RECORDED, "heap-snapshots", f"{n:02}.pb.gz") for n in range(1, 21)]
        result = answer("aggregate", "--total", "--metric", "inuse_space", "-n", "0", *snapshots)
        found = {result["names"][name]: series
                 for name, series in zip(result["rows"]["name"], result["columns"]["series"])}
        expected = {}
        with open(os.path.join(RECORDED, "heap-snapshots/expected-inuse-space.txt"), encoding="utf-8") as report:
            for line in report:
                snapshot, name, *_, total = line.split()
                expected.setdefault(name, [0] * 20)[int(snapshot) - 1] = int(total.rstrip("B"))
        self.assertGreater(len(expected), 5)
        for name, series in expected.items():
            self.assertEqual(found[name], series, name)

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

    def test_rows_of_a_tree_have_paths(self):
        pair = [os.path.join(BEFORE_AFTER, f"{side}-1.pb.gz") for side in ("before", "after")]
        tree = answer("tree", "--base", *pair, "--min-share", "0")
        expected = {}
        for i, parent in enumerate(tree["boxes"]["parent"]):
            if parent >= 0:
                above = next((path for path, box in expected.items() if box == parent), "") if parent > 0 else ""
                expected[(above + ";" if above else "") + tree["names"][tree["boxes"]["name"][i]]] = i
        rows = list(csv.DictReader(io.StringIO(output("diff", "--shape", "top-down", "--csv", "-n", "0", *pair))))
        self.assertEqual(list(rows[0]), ["tag", "path", "file", "line", "module", "self_base", "self_head", "self_delta", "total_base",
                                         "total_head", "total_delta", "stands_out"])
        self.assertEqual(len(rows), len({row["path"] for row in rows}))
        for row in rows:
            box = expected[row["path"]]
            self.assertEqual((int(row["total_base"]), int(row["total_head"])), (tree["changes"]["before"][box], tree["changes"]["after"][box]))
            self.assertEqual(int(row["self_head"]) - int(row["self_base"]), int(row["self_delta"]))
        changed = [box for path, box in expected.items() if tree["changes"]["before"][box] != tree["changes"]["after"][box]]
        self.assertLessEqual(set(changed), {expected[row["path"]] for row in rows})
        # The selfs of all paths are those of the functions.
        flat = list(csv.DictReader(io.StringIO(output("diff", "--csv", "-n", "0", *pair))))
        self.assertEqual(sum(int(row["self_delta"]) for row in rows), sum(int(row["self_delta"]) for row in flat))
        text = output("diff", "--shape", "bottom-up", "-n", "3", *pair)
        self.assertIn("more rows", text)
        run("diff", "--shape", "bottom-up", "--json", *pair, code=2)

    def test_no_two_paths_have_one_text(self):
        before = self.file("a.folded", "main;a b;c 1\n")
        after = self.file("b.folded", 'main;a b;c 4\nmain;x"y;z 5\nmain;back\\slash 7\n')
        rows = {row["path"]: row["self_delta"] for row in csv.DictReader(io.StringIO(output("diff", "--shape", "top-down", "--csv", before, after)))}
        self.assertEqual(rows["main;a b;c"], "3")
        self.assertEqual(rows['main;"x\\"y";z'], "5")
        self.assertEqual(rows['main;"back\\\\slash"'], "7")

    def test_what_tools_measured_of_one_program_stands_side_by_side(self):
        cpu, heap = self.file("cpu.folded", "main;parse 60\nmain;write 40\n"), self.file("heap.folded", "main;parse 5\nmain;grow 15\n")
        text = output("join", cpu, heap)
        self.assertRegex(text, r"cpu\.folded\s+samples 100: 2 of 3 functions are in another profile, with 60\.0 % of it")
        self.assertRegex(text, r"heap\.folded\s+samples \(heap\.folded\) 20: 2 of 3 functions are in another profile, with 25\.0 % of it")
        self.assertRegex(text, r"15\s+75\.0 %\s+grow")
        self.assertRegex(text, r"60\s+60\.0 %\s+5\s+25\.0 %\s+parse")
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(output("join", "--csv", cpu, heap)))}
        self.assertEqual(list(rows["main"])[4:], ["self samples", "total samples", "self samples (heap.folded)", "total samples (heap.folded)"])
        self.assertEqual([rows["parse"][column] for column in list(rows["parse"])[4:]], ["60", "60", "5", "5"])
        self.assertEqual([rows["grow"][column] for column in list(rows["grow"])[4:]], ["", "", "15", "15"])
        paths = {row["path"]: row for row in csv.DictReader(io.StringIO(output("join", "--shape", "bottom-up", "--csv", cpu, heap)))}
        self.assertEqual(paths["grow;main"]["total samples (heap.folded)"], "15")
        self.assertEqual(paths["parse;main"]["total samples"], "60")
        table = answer("join", cpu, heap)
        self.assertEqual((table["metric"], [column["metric"] for column in table["columns"]]), ("samples", ["samples (heap.folded)"]))
        first = [line for line in output("join", "--metric", "samples (heap.folded)", cpu, heap).splitlines() if "grow" in line or "write" in line]
        self.assertIn("grow", first[0])
        run("join", cpu, code=2)
        run("join", cpu, heap, "--metric", "speed", code=1)

    def test_where_nothing_matched_that_is_said(self):
        text = output("join", os.path.join(BEFORE_AFTER, "after-1.pb.gz"), os.path.join(RECORDED, "ranks", "rank-0.perf.txt.gz"))
        self.assertIn("No two profiles have one of the functions in common", text)
        self.assertRegex(text, "4.76 s +34.3 % +main.parseRow")

    def test_the_sum_of_several_is_written_as_a_profile(self):
        ranks = [os.path.join(RECORDED, "ranks", f"rank-{n}.perf.txt.gz") for n in range(4)]
        together = answer("aggregate", "-n", "0", *ranks)
        expected = {together["names"][name]: value for name, value in zip(together["rows"]["name"], together["rows"]["self"]) if value}
        for ending in ("profd", "pb.gz", "folded"):
            path = os.path.join(self.folder.name, "all." + ending)
            run("aggregate", *ranks, "-o", path)
            written = answer("top", "-n", "0", "--metric", together["metric"] if ending != "folded" else "samples", path)
            found = {written["names"][name]: value for name, value in zip(written["rows"]["name"], written["rows"]["self"]) if value}
            if ending == "profd":
                self.assertEqual(found, expected)
            self.assertEqual(sum(found.values()), sum(expected.values()), ending)
        self.assertIn("is there", run("aggregate", *ranks, "-o", path, code=1).stderr.decode())
        one, other = (self.file(f"{name}.folded", "main;a 1\n") for name in ("one", "other"))
        self.assertIn("other.folded", run("aggregate", one, other, "-o", other, "--force", code=1).stderr.decode())
        run("aggregate", *ranks, "-o", path, "--force")
        run("aggregate", *ranks, "-o", os.path.join(self.folder.name, "all.unknown"), code=2)
        run("aggregate", *ranks, "--to", "pprof", code=2)

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
