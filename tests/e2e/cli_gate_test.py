#!/usr/bin/env python3
"""The gate on the command line: verdicts and exit codes on recorded runs, reports, hostile names.

usage: cli_gate_test.py PROFD
"""
import glob
import json
import os
import random
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from cli_program import PROFD, ROOT, InFolder, read

RECORDED = os.path.join(ROOT, "tests/fixtures/compare")
HOSTILE = "x\x1b]0;owned\x07<script>alert(1)</script>]]>\"&'`[a](javascript:b)|@all"
SCHEMAS = ("tests/e2e/peers/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0*.json",)


def gate(*arguments, code=0, cwd=RECORDED):
    environment = dict(os.environ, PROFD_CACHE="off")
    done = subprocess.run([PROFD, "gate", *arguments], capture_output=True, env=environment, stdin=subprocess.DEVNULL,
                          cwd=cwd, timeout=120)
    assert done.returncode == code, (arguments, done.returncode, done.stdout.decode(), done.stderr.decode())
    return done


def runs(side, *numbers):
    return [os.path.join("before-after", f"{side}-{n}.pb.gz") for n in numbers or range(1, 6)]


def sides(base, head):
    return ["--base", *base, "--head", *head]


def rules(*texts):
    return [word for text in texts for word in ("--rule", text)]


def answer(*arguments, code=0):
    return json.loads(gate(*arguments, "--to", "json", code=code).stdout)


def verdicts(result):
    return {rule["rule"]: rule["verdict"] for rule in result["rules"]}


def schema():
    """Of SARIF 2.1.0, as published; None where it is not there."""
    named = os.environ.get("PROFD_SARIF_SCHEMA")
    for path in [named] if named else [found for pattern in SCHEMAS for found in glob.glob(os.path.join(ROOT, pattern))]:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    return None


class Gate(InFolder):
    def test_five_runs_a_side(self):
        result = answer(*sides(runs("before"), runs("after")),
                        *rules("total(main.parseRow) < +5%", "total(main.*) < +20%", "total(main.parseRow) < +2pp",
                               "self(main.parseRow) < +2s", "new < 1%", "gone < 50%"), code=1)
        self.assertEqual(verdicts(result), {
            "total(main.parseRow) < +5%": "broken", "total(main.*) < +20%": "held", "total(main.parseRow) < +2pp": "broken",
            "self(main.parseRow) < +2s": "held", "new < 1%": "broken", "gone < 50%": "held"})
        found = result["rules"][0]["findings"][0]
        self.assertAlmostEqual(found["after"] / found["before"], 1.36, delta=0.01)
        self.assertLess(found["low"], 1.36)
        self.assertGreater(found["high"], 1.36)
        self.assertEqual(found["path"][-1], "main.parseRow")

    def test_the_figures_are_those_of_diff(self):
        result = answer(*sides(runs("before", 1), runs("after", 1)), *rules("each self(main.*) < +0%"), code=1)
        environment = dict(os.environ, PROFD_CACHE="off")
        done = subprocess.run([PROFD, "diff", "--json", "-n", "0", *runs("before", 1), *runs("after", 1)], env=environment,
                              capture_output=True, cwd=RECORDED, check=True)
        diff = json.loads(done.stdout)
        sides_of = {diff["names"][name]: (diff["changes"]["selfBefore"][i], diff["changes"]["selfAfter"][i])
                    for i, name in enumerate(diff["rows"]["name"])}
        found = result["rules"][0]["findings"]
        self.assertGreater(len(found), 4)
        for one in found:
            self.assertEqual((one["before"], one["after"]), sides_of[one["name"]], one["name"])

    def test_unchanged_runs_are_not_broken(self):
        pair = answer(*sides(runs("before", 1), runs("before", 2)),
                      *rules("total(main.parseRow) < +5%", "each total(*) < +5%", "new < 1%"))
        self.assertEqual(pair["broken"], 0)
        several = answer(*sides(runs("before", 1, 2), runs("before", 3, 4, 5)), *rules("total(main.parseRow) < +5%"))
        self.assertEqual(several["broken"], 0)

    def test_ranks_that_do_the_same_are_not_broken(self):
        result = answer("--base", "ranks/rank-0.perf.txt.gz", "--head", "ranks/rank-1.perf.txt.gz",
                        *rules("each self(heat::*) < +5%"))
        self.assertEqual(result["broken"], 0)

    def test_times_tell_how_samples_cluster(self):
        timed = [os.path.join("before-after-timed", f"{side}.perf.txt.gz") for side in ("before-1", "before-2", "after-1")]
        unchanged = answer("--base", timed[0], "--head", timed[1], *rules("each self(kitchen::*) < +5%"))
        self.assertEqual(unchanged["broken"], 0)
        self.assertIn("as their times tell", unchanged["noise"])
        changed = answer("--base", timed[0], "--head", timed[2], *rules("self(/^kitchen::chop/) < +5%", "new < 1%"), code=1)
        self.assertEqual(changed["broken"], 2)

    def test_undecided_passes_unless_it_is_to_fail(self):
        arguments = [*sides(runs("before", 1), runs("before", 2)), *rules("total(main.parseRow) < +5%")]
        text = gate(*arguments).stdout.decode()
        self.assertIn("undecided", text)
        self.assertIn("would be missed", text)
        gate(*arguments, "--undecided", "fail", code=1)

    def test_a_rule_without_a_match_passes_nobody(self):
        arguments = [*sides(runs("before", 1), runs("after", 1)), *rules("total(nobody) < +5%", "total(main.*) < +20%")]
        self.assertEqual(verdicts(answer(*arguments, code=3))["total(nobody) < +5%"], "no match")
        gate(*arguments, "--allow-empty")
        gate(*arguments, *rules("total(main.parseRow) < +5%"), code=1)

    def test_what_cannot_be_compared_is_not_good(self):
        one = rules("total(main.*) < +20%")
        gate(*sides(runs("before", 1), ["missing.pb.gz"]), *one, code=3)
        gate(*sides(runs("before", 1), runs("after", 1)), *rules("total(main.*) of heat < +20%"), code=3)
        gate("--base", *runs("before", 1), "--head", "heap-snapshots/01.pb.gz", *one, code=3)

    def test_wrong_use(self):
        both = sides(runs("before", 1), runs("after", 1))
        for arguments in ([], both, [*both, *rules("total(main")], [*both, *rules("total(main) < 5")],
                          [*both[:2], *rules("new < 1%")],
                          [*both, *rules("new < 1%"), "-o", "x.pdf"], [*both, "--rules", "missing.txt"],
                          [*both, *rules("new < 1%"), "--to", "html"]):
            gate(*arguments, code=2)
        self.assertIn("character 15", gate(*both, *rules("total(main) < 5"), code=2).stderr.decode())

    def test_rules_of_a_file(self):
        path = self.file("gate.txt", "# what has to hold\n\n  total(main.*) < +20%\r\nself(main.parseRow) < +2s\n")
        self.assertEqual(len(answer(*sides(runs("before"), runs("after")), "--rules", path)["rules"]), 2)

    def project(self, text):
        """A folder with a .profd.toml, and the two sides as seen from there."""
        folder = os.path.join(self.folder.name, "project", "below")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(self.folder.name, "project", ".profd.toml"), "w", encoding="utf-8") as file:
            file.write(text)
        return folder, sides(*([os.path.join(RECORDED, path) for path in runs(side, 1)] for side in ("before", "after")))

    def test_without_rules_those_of_the_project_hold(self):
        folder, both = self.project('[gate]\nrules = ["total(main.parseRow) < +5%", "total(main.*) < +20%"]\n')
        result = json.loads(gate(*both, "--to", "json", cwd=folder, code=1).stdout)
        self.assertEqual(verdicts(result), {"total(main.parseRow) < +5%": "broken", "total(main.*) < +20%": "held"})
        self.assertEqual(result["rulesFrom"], "../.profd.toml")
        self.assertIn("The rules are those of ../.profd.toml.", gate(*both, cwd=folder, code=1).stdout.decode())
        # Those of the command line stand alone.
        own = json.loads(gate(*both, *rules("total(main.*) < +20%"), "--to", "json", cwd=folder).stdout)
        self.assertEqual((list(verdicts(own)), own["rulesFrom"]), (["total(main.*) < +20%"], ""))
        self.assertEqual(gate(*both, *rules("new < 1%"), cwd=folder, code=1).stderr, b"")

    def test_what_the_project_says_besides_holds_with_its_rules(self):
        undecided = '[gate]\nrules = "total(main.stir) < +2%"\nundecided = "fail"\n'
        folder, both = self.project(undecided)
        gate(*both, cwd=folder, code=1)
        gate(*both, "--undecided", "pass", cwd=folder)
        gate(*both, *rules("total(main.stir) < +2%"), cwd=folder)
        folder, both = self.project('[gate]\nrules = "total(nobody) < +5%"\nallow_empty = true\nmetric = "samples"\n')
        result = json.loads(gate(*both, "--to", "json", cwd=folder).stdout)
        self.assertEqual(result["rules"][0]["metric"], "samples")
        result = json.loads(gate(*both, "--metric", "cpu", "--to", "json", cwd=folder).stdout)
        self.assertEqual(result["rules"][0]["metric"], "cpu")

    def test_a_project_whose_rules_are_not_right_passes_nobody(self):
        for text, says in (('[gate]\nrules = ["total(main.* < +5%", "new < 90%"]\n', ".profd.toml:2: gate.rules"),
                           ('[gate]\nrules = ["new < 90%"]\nundecidd = "fail"\n', "gate.undecidd is not a setting"),
                           ('[gate]\nrules = [\n', ".profd.toml:"), ('metric = "cpu"\n', "a gate needs a rule")):
            folder, both = self.project(text)
            self.assertIn(says, gate(*both, cwd=folder, code=2).stderr.decode(), text)

    def test_gitlab_is_given_a_list_of_what_it_reads(self):
        """https://docs.gitlab.com/ci/testing/code_quality/: these keys, a relative path, a fingerprint a result."""
        path = os.path.join(self.folder.name, "gl-code-quality-report.json")
        arguments = [*sides(runs("before"), runs("after")), *rules("each total(*) < +5%", "self(main.stir) < +2%")]
        gate(*arguments, "--gitlab", path, code=1)
        results = json.loads(read(path))
        self.assertEqual(results, json.loads(gate(*arguments, "--to", "gitlab", code=1).stdout))
        self.assertEqual({result["severity"] for result in results}, {"major", "info"})
        for result in results:
            self.assertEqual(sorted(result), ["check_name", "description", "fingerprint", "location", "severity"])
            self.assertTrue(all(isinstance(result[key], str) and result[key] for key in
                                ("check_name", "description", "fingerprint", "severity")))
            place = result["location"]
            self.assertEqual((list(place), list(place["lines"])), (["path", "lines"], ["begin"]))
            self.assertGreaterEqual(place["lines"]["begin"], 1)
            self.assertFalse(place["path"].startswith(("/", "./")) or ".." in place["path"], place)
        self.assertEqual(len({result["fingerprint"] for result in results}), len(results))
        self.assertTrue(any(result["location"]["path"].endswith("batch.go") for result in results))
        self.assertEqual(json.loads(gate(*sides(runs("before", 1), runs("before", 1)), *rules("new < 1%"), "--to", "gitlab").stdout), [])
        gate(*arguments, "--gitlab", path, code=2)

    def test_reports(self):
        names = {ending: os.path.join(self.folder.name, "gate" + ending) for ending in (".txt", ".md", ".sarif", ".xml", ".json")}
        arguments = [*sides(runs("before"), runs("after")), *rules("total(main.parseRow) < +5%", "total(main.*) < +20%")]
        gate(*arguments, *(word for path in names.values() for word in ("-o", path)), code=1)
        suite = xml.etree.ElementTree.parse(names[".xml"]).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))
        self.assertIn("### profd gate: 1 of 2 rules broken", read(names[".md"]).decode())
        self.assertEqual(json.loads(read(names[".json"]))["broken"], 1)
        result = json.loads(read(names[".sarif"]))["runs"][0]["results"][0]
        place = result["locations"][0]["physicalLocation"]
        self.assertTrue(place["artifactLocation"]["uri"].endswith("batch.go"))
        # Nothing is written over.
        gate(*arguments, "-o", names[".md"], code=2)
        gate(*arguments, "-o", names[".md"], "--force", code=1)

    def test_sarif_is_valid(self):
        published = schema()
        try:
            import jsonschema
        except ImportError:
            published = None
        if published is None:
            print("PARTLY NOT RUN: SARIF against its schema (@microsoft/jest-sarif or PROFD_SARIF_SCHEMA, and jsonschema)",
                  file=sys.stderr)
            return
        for arguments, code in (([*sides(runs("before"), runs("after")), *rules("each total(*) < +5%", "new < 1%")], 1),
                                ([*sides(runs("before", 1), runs("before", 2)), *rules("total(nobody) < +5%")], 3)):
            jsonschema.validate(json.loads(gate(*arguments, "--to", "sarif", code=code).stdout), published)

    def test_names_are_data(self):
        line = HOSTILE.replace(";", ":")
        before, after = self.file("a.folded", f"main;{line} 1000\n"), self.file("b.folded", f"main;{line} 2000\n")
        for shown in ("text", "markdown", "sarif", "gitlab", "junit", "json"):
            out = gate("--base", before, "--head", after, *rules("each self(/script/) < +5%"), "--to", shown, code=1).stdout
            for control in (b"\x1b", b"\x07"):
                self.assertNotIn(control, out, shown)
            if shown == "junit":
                xml.etree.ElementTree.fromstring(out)

    def test_ten_thousand_rules(self):
        path = self.file("gate.txt", "".join(f"total(/^main|x{i}/) < +{i % 50}%\n" for i in range(10_000)))
        comment = gate(*sides(runs("before", 1), runs("after", 1)), "--rules", path, "--to", "markdown").stdout
        self.assertLessEqual(len(comment), 60_000)
        self.assertIn(b"of 10.0 k rules broken", comment)

    def test_a_hundred_unchanged_pairs(self):
        """Resampled of one recorded run: at most 10 gates are broken, and the estimates alone would break most."""
        drawn = random.Random(3)
        stacks = [(f"main;f{i};g{i % 7}", 1 / (i + 1)) for i in range(60)]
        n_broken = n_past = 0
        for _ in range(100):
            files = []
            for side in "ab":
                counts = {}
                for stack in drawn.choices([s for s, _ in stacks], [w for _, w in stacks], k=10_000):
                    counts[stack] = counts.get(stack, 0) + 1
                files.append(self.file(f"{side}.folded", "".join(f"{s} {n}\n" for s, n in counts.items())))
            environment = dict(os.environ, PROFD_CACHE="off")
            done = subprocess.run([PROFD, "gate", "--base", files[0], "--head", files[1], "--to", "json",
                                   *rules("each total(*) < +5%", "total(f3) < +5%", "self(g2) < +1%", "new < 1%")],
                                  capture_output=True, env=environment, stdin=subprocess.DEVNULL, timeout=120, check=False)
            self.assertIn(done.returncode, (0, 1))
            n_broken += done.returncode
            result = json.loads(done.stdout)
            n_past += any(f["after"] > f["allowed"] for rule in result["rules"] for f in rule["findings"])
        print(f"{n_broken} of 100 unchanged pairs broken, {n_past} past a limit by their estimates", file=sys.stderr)
        self.assertLessEqual(n_broken, 10)
        self.assertGreater(n_past, 50)


if __name__ == "__main__":
    unittest.main(verbosity=1)
