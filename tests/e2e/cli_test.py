#!/usr/bin/env python3
"""The command line as its users meet it: outcomes, exit codes, JSON shapes, bad files, hostile names.

usage: cli_test.py PROFD
"""
import csv
import gzip
import io
import json
import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

import answers

PROFD = sys.argv.pop(1) if len(sys.argv) > 1 else "profd"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEVERAL = os.path.join(ROOT, "formats/speedscope/testdata/units.speedscope.json")
CPU = os.path.join(ROOT, "formats/pprof/testdata/recorded-cpu.pb.gz")

FOLDED = "main;http.serve;json.parse 40\nmain;http.serve 10\nmain;gc 50\n"
COMMANDS = ("summary", "top", "tree", "flame", "hotspots", "list", "search", "check", "convert", "formats", "view", "serve", "connect",
            "query", "completion", "man")
HOSTILE = "main;\x1b]0;owned\x07<script>alert(1)</script> 7\nmain;a\u202eb]]>&amp; 3\n"


def run(*arguments, stdin=None, env=None, code=0):
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS")}
    environment = dict(inherited, PROFD_CACHE="off", **(env or {}))
    given = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    result = subprocess.run([PROFD, *arguments], **given, capture_output=True, env=environment, timeout=60)
    if code is not None and result.returncode != code:
        raise AssertionError(f"profd {' '.join(arguments)} ended with {result.returncode}, not {code}\n{result.stderr.decode()}")
    return result


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as out:
            out.write(content.encode() if isinstance(content, str) else content)
        return path

    def test_first_glance_says_what_it_is_and_what_is_hot(self):
        text = run(self.file("a.folded", FOLDED)).stdout.decode()
        for part in ("a.folded", "folded", "Hottest functions", "50.0 %", "gc", "Heaviest paths", "json.parse"):
            self.assertIn(part, text)
        self.assertNotIn("\x1b", text)

    def test_stdin_is_a_file_too(self):
        self.assertIn("json.parse", run("-", stdin=FOLDED.encode()).stdout.decode())
        # What is piped in is meant without a name, too; of a terminal or /dev/null there is nothing to read.
        self.assertIn("json.parse", run(stdin=FOLDED.encode()).stdout.decode())
        self.assertIn("json.parse", run("top", stdin=FOLDED.encode()).stdout.decode())
        self.assertIn("FILE", run("top", code=2).stderr.decode())
        self.assertIn("stdin: ", run(stdin=b"", code=1).stderr.decode())

    def test_errors_name_the_file_whatever_it_is_called(self):
        for name in ("file", "is", "e", "the"):
            path = self.file(name, "\x00\x01 no profile")
            done = subprocess.run([PROFD, "top", name], cwd=self.folder.name, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stderr.decode().startswith(f"profd: {name}: "), done.stderr)
            os.remove(path)
            # Once, where the system says it.
            missing = run("top", path, code=1).stderr.decode()
            self.assertTrue(missing.startswith(f"profd: {path}: No such file"), missing)
            self.assertEqual(missing.count(path), 1)

    def test_what_is_read_is_never_written_over(self):
        path = self.file("x.pprof", read(CPU))
        whole = read(path)
        os.link(path, os.path.join(self.folder.name, "hard.pprof"))
        os.symlink("x.pprof", os.path.join(self.folder.name, "soft.pprof"))
        os.mkdir(os.path.join(self.folder.name, "sub"))
        for out in ("x.pprof", "hard.pprof", "soft.pprof", "sub/../x.pprof"):
            for force in ([], ["--force"]):
                refused = run("convert", *force, path, os.path.join(self.folder.name, out), code=1).stderr.decode()
                self.assertIn("is the file that is read", refused)
        with open(path, "rb") as source:
            done = subprocess.run([PROFD, "convert", "--force", "-", path], stdin=source, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"is the file that is read", done.stderr)
        self.assertIn("is one of the files that are read", run("convert", "--force", self.folder.name, path, code=1).stderr.decode())
        self.assertEqual(read(path), whole)

    def test_what_is_there_is_replaced_with_force_alone(self):
        path = self.file("a.folded", FOLDED)
        for command, name in ((["convert", path], "out.pprof"), (["flame", path, "-o"], "out.svg")):
            out = self.file(name, "dear")
            self.assertIn("--force", run(*command, out, code=1).stderr.decode())
            self.assertEqual(read(out), b"dear")
            run(*command, out, "--force")
            self.assertNotEqual(read(out), b"dear")

    def test_a_page_is_written_under_an_ending_that_says_so(self):
        path = self.file("a.folded", FOLDED)
        for name in ("x.png", "x.pdf", "x.json", "x.unheard"):
            out = os.path.join(self.folder.name, name)
            self.assertIn(".svg", run("flame", "-o", out, path, code=2).stderr.decode())
            self.assertFalse(os.path.exists(out))
        for name, begins in (("x.svg", b"<?xml"), ("x.html", b"<!doctype html>"), ("x", b"<?xml")):
            out = os.path.join(self.folder.name, name)
            run("flame", "-o", out, path)
            self.assertTrue(read(out).startswith(begins), name)
        self.assertTrue(run("flame", "-o", "-", path).stdout.startswith(b"<"))
        run("flame", "-o", "/dev/null", path)

    def test_losses_are_said_by_every_command(self):
        path = self.file("bad.folded", FOLDED + "no count here\n")
        said = [row["message"] for row in json.loads(run("summary", "--json", path).stdout)["report"] if row["severity"] == "loss"]
        self.assertEqual(len(said), 1)
        for command in (["top"], ["tree"], ["flame"], ["search", "main"], ["hotspots"]):
            self.assertIn(f"{path}: {said[0]}", run(*command, path).stderr.decode(), command)
        for command in (["top", "--json"], ["tree", "--json"], ["flame", "--json"], ["search", "--json", "main"]):
            self.assertEqual(json.loads(run(*command, path).stdout)["warnings"], said, command)
        out = os.path.join(self.folder.name, "out.pprof")
        self.assertIn(f"{path}: {said[0]}", run("convert", path, out).stderr.decode())
        self.assertEqual(json.loads(run("convert", "--to", "json", path, "-").stdout)["warnings"], said)
        self.assertIn(said[0], run(path).stdout.decode())

    def table(self, *arguments):
        return list(csv.DictReader(io.StringIO(run(*arguments).stdout.decode(), newline="")))

    def test_rows_are_the_same_in_csv_and_json_and_say_what_the_columns_say(self):
        path = self.file("a.folded", FOLDED + 'main;"odd", name 3\n')
        for command in (["top", "-n", "0"], ["tree", "--min-share", "0"], ["search", "-n", "0", "."], ["hotspots", "-n", "0"]):
            objects = [json.loads(line) for line in run(*command, "--rows", path).stdout.splitlines()]
            table = self.table(*command, "--csv", path)
            self.assertEqual([list(row) for row in objects], [list(row) for row in table], command)
            text = lambda value: "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)
            self.assertEqual([[text(cell) for cell in row.values()] for row in objects], [list(row.values()) for row in table])
        rows = answers.rows_of(json.loads(run("top", "--json", "-n", "0", path).stdout))
        flat = [json.loads(line) for line in run("top", "-n", "0", "--rows", path).stdout.splitlines()]
        self.assertEqual([(r["name"], r["self"], r["total"]) for r in flat], [(r["name"], r["self"], r["total"]) for r in rows])
        self.assertEqual({(r["metric"], r["unit"], r["profile"]) for r in flat}, {("samples", "count", path)})
        tree = [json.loads(line) for line in run("tree", "--rows", "--min-share", "0", path).stdout.splitlines()]
        self.assertEqual(sum(row["self"] for row in tree), 103)
        self.assertEqual(tree[0]["parent"], None)
        for row in tree[1:]:
            self.assertLess(row["parent"], row["id"])
        # What was joined is a row that says so, and what was left out is told.
        joined = [row for row in map(json.loads, run("tree", "--rows", "--min-share", "45", path).stdout.splitlines()) if row["joined"]]
        self.assertEqual(sum(row["joined"] for row in joined), 2)
        self.assertIn("3 more", run("top", "--csv", "-n", "2", path).stderr.decode())

    def test_several_files_are_answered_one_after_another(self):
        a, b = self.file("a.folded", FOLDED), self.file("b.folded", "other 7\n")
        text = run("top", a, b).stdout.decode()
        self.assertLess(text.index(a), text.index("gc"))
        self.assertLess(text.index("gc"), text.index(b))
        rows = self.table("top", "--csv", "-n", "0", a, b)
        self.assertEqual([row["profile"] for row in rows], [a] * 4 + [b])
        for command in (["top"], ["tree"], ["search", "."], ["summary"]):
            lines = run(*command, "--json", a, b).stdout.splitlines()
            self.assertEqual(len([json.loads(line) for line in lines]), 2, command)
        # One that cannot be read keeps nobody from the others, and is told by the exit code.
        done = run("top", "--csv", os.path.join(self.folder.name, "none"), b, code=1)
        self.assertIn(b"other", done.stdout)

    def test_folded_merges_equal_stacks_and_keeps_lines_that_are_asked_for(self):
        path = self.file("a.folded", "main (a.c:1);work (a.c:7) 5\nmain (a.c:2);work (a.c:7) 3\nmain (a.c:2);work (a.c:9) 2\nmain (a.c:2) 1\n")
        plain = run("convert", "--to", "folded", path, "-").stdout.decode()
        self.assertEqual(sorted(plain.splitlines()), ["main 1", "main;work 10"])
        lined = run("convert", "--to", "folded", "--granularity", "line", path, "-").stdout.decode()
        self.assertEqual(sorted(lined.splitlines()), sorted(read(path).decode().splitlines()))

    def test_list_shows_the_source_with_what_its_lines_cost(self):
        demo = os.path.join(ROOT, "tests/fixtures/go-demo")
        profile = os.path.join(demo, "cpu.pprof")

        def listed(*arguments, code=0):
            environment = dict(os.environ, PROFD_CACHE="off")
            done = subprocess.run([PROFD, "list", *arguments, profile], cwd=demo, capture_output=True, env=environment, stdin=subprocess.DEVNULL, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout.decode(), done.stderr.decode()

        # As `go tool pprof -list main.sign` has it.
        text, _ = listed("main.sign")
        self.assertRegex(text, r"main\.sign  .*digest\.go")
        self.assertRegex(text, r"10\.0 ms +940 ms +15  .*Sum256")
        rows = [json.loads(line) for line in listed("--rows", "sign")[0].splitlines()]
        line = next(row for row in rows if row["line"] == 15)
        self.assertEqual((line["self"], line["total"], line["name"]), (10_000_000, 940_000_000, "main.sign"))
        with open(os.path.join(demo, "digest.go")) as source:
            source = source.read().splitlines()
        for row in rows:
            if row["path"]:
                self.assertEqual(row["text"] or "", source[row["line"] - 1])
        # An expression means all that match; what is in no folder here has numbers and says so.
        several, _ = listed("^main\\.", "-n", "0")
        self.assertGreater(several.count(" total ("), 3)
        self.assertIn("is not found", listed("runtime.mallocgc")[0])
        self.assertIn("no function with a value", listed("no.such", code=1)[1])

    def test_hotspots_are_places_that_editors_take(self):
        demo = os.path.join(ROOT, "tests/fixtures/go-demo")
        done = subprocess.run([PROFD, "hotspots", "-n", "0", "cpu.pprof"], cwd=demo, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout.decode(), r"(?m)^/.*go-demo/digest\.go:15: .* %.* self, .* total in ")

    def test_completions_and_the_manual_know_every_command_and_option(self):
        for shell, check in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])):
            script = run("completion", shell).stdout.decode()
            for command in COMMANDS:
                self.assertIn(command, script, shell)
            self.assertIn("min-share", script)
            if shutil.which(check[0]):
                subprocess.run(check, input=script, text=True, check=True)
        words = ("_profd; printf '%s\\n' \"${COMPREPLY[@]}\"")
        script = run("completion", "bash").stdout.decode()

        def completed(*line):
            typed = " ".join(f"'{word}'" for word in line)
            done = subprocess.run(["bash", "-c", f"{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(line) - 1}; {words}"], capture_output=True, text=True, check=True)
            return done.stdout.split()

        self.assertEqual(completed("profd", "hots"), ["hotspots"])
        self.assertEqual(completed("profd", "top", "--sor"), ["--sort"])
        self.assertEqual(completed("profd", "top", "--sort", "t"), ["total"])
        self.assertEqual(completed("profd", "tree", "--granularity", "f"), ["function", "file"])
        # bash takes --sort=t for three words.
        self.assertEqual(completed("profd", "top", "--sort", "=", "t"), ["total"])
        self.assertEqual(completed("profd", "top", "--sort", "="), ["self", "total"])
        self.assertEqual(completed("profd", "completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(completed("profd", "convert", "--to", "fold"), ["folded"])
        self.assertEqual(completed("profd", "top", "--format", "pst"), ["pstats"])
        self.assertEqual(completed("profd", "top", "--metric", ""), [])
        self.file("a name.folded", FOLDED)
        self.assertEqual(completed("profd", "top", os.path.join(self.folder.name, "a n")), [os.path.join(self.folder.name, "a"), "name.folded"])
        page = run("man").stdout.decode()
        for command in COMMANDS:
            self.assertIn(f".SS \\fBprofd {command}", page)
        if shutil.which("man"):
            shown = subprocess.run(["man", "-l", "-"], input=page, text=True, capture_output=True, env=dict(os.environ, MANWIDTH="100"))
            self.assertIn("--min-share", shown.stdout)

    @unittest.skipUnless(shutil.which("fish"), "NOT RUN: there is no fish")
    def test_fish_completes(self):
        script = self.file("profd.fish", run("completion", "fish").stdout)
        self.file("one.folded", FOLDED)
        environment = dict(os.environ, HOME=self.folder.name, XDG_CONFIG_HOME=self.folder.name, XDG_DATA_HOME=self.folder.name)

        def completed(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C {shlex.quote(line)}"], cwd=self.folder.name, env=environment, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stderr, "")
            return [row.split("\t")[0] for row in done.stdout.splitlines()]

        self.assertEqual(completed("profd to"), ["top"])
        self.assertEqual(set(completed("profd ")) & set(COMMANDS), set(COMMANDS))
        self.assertEqual(completed("profd one"), ["one.folded"])
        self.assertEqual(completed("profd top one"), ["one.folded"])
        self.assertEqual(completed("profd top --so"), ["--sort"])
        self.assertEqual(completed("profd top --sort "), ["self", "total"])
        self.assertEqual(completed("profd top --sort=t"), ["--sort=total"])
        self.assertEqual(completed("profd --filter x to"), ["top"])
        # The first command is meant, and an argument may be called like another one.
        self.assertEqual(completed("profd search top --so"), [])
        self.assertEqual(completed("profd completion "), ["bash", "fish", "zsh"])
        self.assertEqual(completed("profd convert --to fold"), ["folded"])
        self.assertEqual(completed("profd top --metric "), [])
        self.assertEqual(completed("profd flame -o one"), ["one.folded"])

    @unittest.skipUnless(shutil.which("zsh"), "NOT RUN: there is no zsh")
    def test_zsh_completes(self):
        self.file("_profd", run("completion", "zsh").stdout)
        self.file("one.folded", FOLDED)
        self.file(".zshrc", "PS1='> '\nfpath=($PWD $fpath)\nautoload -Uz compinit; compinit -D -u\n[[ -n $SOURCED ]] && source _profd\n"
                  "unsetopt beep auto_menu; setopt no_list_ambiguous auto_list; zstyle ':completion:*' list-colors ''\nbindkey '^I' complete-word\n")

        def screen_after(line, sourced):
            """What stands on the terminal of an interactive zsh after a line and two tabs."""
            primary, terminal = pty.openpty()
            environment = {"HOME": self.folder.name, "ZDOTDIR": self.folder.name, "PATH": os.environ["PATH"], "TERM": "dumb", "LANG": "C.UTF-8", "COLUMNS": "200", "LINES": "100"}
            if sourced:
                environment["SOURCED"] = "1"
            shell = subprocess.Popen(["zsh", "-d", "-i"], stdin=terminal, stdout=terminal, stderr=terminal, cwd=self.folder.name, env=environment, start_new_session=True)
            os.close(terminal)
            text = ""

            def until(mark, since=0):
                nonlocal text
                end = time.monotonic() + 30
                while mark not in text[since:]:
                    ready, _, _ = select.select([primary], [], [], max(0, end - time.monotonic()))
                    self.assertTrue(ready, f"zsh did not show {mark!r}: {text!r}")
                    text += os.read(primary, 65536).decode(errors="replace")

            try:
                until("> ")
                begin = len(text)
                # What follows the tabs is typed when the completion is done, and comes back when it is shown.
                os.write(primary, (line + "\t").encode())
                os.write(primary, b"\t\x05 #done")
                until("#done", begin)
                return text[begin:]
            finally:
                shell.kill()
                shell.wait()
                os.close(primary)

        for sourced in (False, True):
            self.assertIn("profd top", screen_after("profd to", sourced))
            self.assertIn("profd one.folded", screen_after("profd on", sourced))
            self.assertIn("profd top one.folded", screen_after("profd top on", sourced))
            self.assertIn("--sort", screen_after("profd top --so", sourced))
        self.assertRegex(screen_after("profd top --sort ", False), r"self +total")
        self.assertIn("--sort=total", screen_after("profd top --sort=t", False))
        self.assertRegex(screen_after("profd completion ", False), r"bash +fish +zsh")
        self.assertIn("folded", screen_after("profd convert --to fold", False))
        self.assertNotIn("one.folded", screen_after("profd top --metric ", False))
        self.assertIn("--filter x top", screen_after("profd --filter x to", False))
        self.assertIn("flame -o one.folded", screen_after("profd flame -o on", False))

    def test_a_wrong_filter_or_view_is_a_wrong_command_line(self):
        path = self.file("a.folded", FOLDED)
        out = os.path.join(self.folder.name, "out.pprof")
        taking = {"": [path], "summary": [path], "top": [path], "tree": [path], "flame": [path], "hotspots": [path], "list": ["main", path], "search": ["main", path], "convert": [path, out]}
        # Every command that takes a filter is in the table.
        for command in COMMANDS:
            self.assertEqual("--filter" in run(command, "--help").stdout.decode(), command in taking, command)
        for command, arguments in taking.items():
            for option, text, says in (
                ("--filter", "hid functon foo", "did you mean hide?"),
                ("--filter", "drop function /[/", "regular expression is not valid"),
                ("--filter", "", "--filter: "),
                ("--spec", "bottom-upp", "a view begins with"),
                ("--spec", "flat | drop function /[/", "regular expression is not valid"),
                ("--view", "flat by fil", "did you mean file?"),
            ):
                with self.subTest(command=command, option=option, text=text):
                    done = run(*([command] if command else []), option, text, *arguments, code=2)
                    self.assertIn(says, done.stderr.decode())
                    self.assertEqual(done.stdout, b"")
            # Told before any file is looked for.
            run(*([command] if command else []), "--filter", "hid x", *arguments[:-1], "/no/such/file", code=2)
        self.assertFalse(os.path.exists(out))
        for command in ("tree", "flame"):
            run(command, "--shape", "sideways", path, code=2)
        self.assertIn("regular expression", run("search", "[", path, code=2).stderr.decode())
        # What only the profile can refuse is no fault of the line.
        run("top", "--metric", "nope", path, code=1)

    def test_records_of_the_file_are_no_samples(self):
        path = self.file("two.folded", "a;b 69\na 1\n")
        glance = run(path).stdout.decode()
        self.assertIn("2 records", glance)
        self.assertRegex(glance, r"samples +70")
        self.assertNotIn("2 samples", glance)
        self.assertIn("folded, 2 records,", run("check", path).stdout.decode())
        metric = json.loads(run("summary", "--json", path).stdout)["metrics"][0]
        self.assertEqual((metric["total"], metric["records"]), (70, 2))

    def test_gc_on_stack_moves_the_collector(self):
        def node(id, name, url, **more):
            frame = {"functionName": name, "scriptId": "7" if url else "0", "url": url, "lineNumber": 1, "columnNumber": 1}
            return {"id": id, "callFrame": frame, **more}

        nodes = [node(1, "(root)", "", children=[2, 3]), node(2, "work", "a.js"), node(3, "(garbage collector)", "")]
        profile = {"nodes": nodes, "startTime": 0, "endTime": 4000, "samples": [2, 3], "timeDeltas": [1000, 1000]}
        path = self.file("gc.cpuprofile", json.dumps(profile))
        self.assertNotIn(b"work_[j];(garbage collector)", run("convert", "--to", "folded", path, "-").stdout)
        self.assertIn(b"work_[j];(garbage collector)", run("convert", "--gc-on-stack", "--to", "folded", path, "-").stdout)

    def test_summary_json_has_the_documented_shape(self):
        answer = json.loads(run("summary", "--json", self.file("a.folded", FOLDED)).stdout)
        self.assertEqual(list(answer), ["format", "metrics", "contexts", "threads", "report", "missing"])
        self.assertEqual(answer["format"], "folded")
        self.assertEqual(list(answer["metrics"][0]), ["name", "unit", "total", "records"])
        self.assertEqual(answer["metrics"][0]["total"], 100)
        self.assertEqual(answer["contexts"], 4)
        self.assertEqual(answer["report"], [])

    def test_what_a_profile_does_not_know_is_said(self):
        path = self.file("a.folded", FOLDED)
        missing = json.loads(run("summary", "--json", path).stdout)["missing"]
        self.assertEqual([(part["kind"], part["amount"], part["share"]) for part in missing], [("lines", 100, "100 %")])
        self.assertIn("code without line numbers", run(path).stdout.decode())
        by_line = run("top", "--granularity", "line", path)
        self.assertIn("a.folded: The profile has no line numbers", by_line.stderr.decode())
        self.assertEqual(run("top", "--granularity", "function", path).stderr, b"")
        lined = self.file("b.folded", "main (a.c:1);work (a.c:7) 5\n")
        self.assertEqual(run("top", "--granularity", "line", lined).stderr, b"")
        self.assertEqual(json.loads(run("summary", "--json", lined).stdout)["missing"], [])

    def test_top_json_has_the_documented_shape_and_conserves(self):
        path = self.file("a.folded", FOLDED)
        answer = json.loads(run("top", "--json", "-n", "1", path).stdout)
        rows = answers.rows_of(answer)
        self.assertEqual(rows[0]["name"], "gc")
        self.assertEqual(answer["rowCount"], 4)
        self.assertEqual(rows[0]["self"] + answer["remainder"]["amount"]["value"], answers.view_total(answer))
        by_total = json.loads(run("top", "--json", "--sort", "total", "-n", "0", path).stdout)
        self.assertEqual(answers.rows_of(by_total)[0]["name"], "main")
        self.assertNotIn("remainder", by_total)
        # What is on no row is said.
        hidden = json.loads(run("top", "--json", "--filter", "hide function /./", path).stdout)
        self.assertEqual(hidden["rowCount"], 0)
        self.assertEqual(hidden["own"]["value"], answers.view_total(hidden))

    def test_every_profile_of_a_file_is_listed_and_can_be_picked(self):
        text = run(SEVERAL).stdout.decode()
        self.assertIn("profile 1 of 3 in the file", text)
        for part in (" › ", "1  ", "96 B", "units (bytes)", "300 ms", "units (seconds)", "units (none)"):
            self.assertIn(part, text)
        answer = json.loads(run("summary", "--json", "--profile", "units (none)", SEVERAL).stdout)
        self.assertEqual(answer["profile"], 3)
        self.assertEqual([p["name"] for p in answer["profiles"]], ["units (bytes)", "units (seconds)", "units (none)"])
        self.assertEqual(answer["profiles"][0]["metrics"][0]["total"], 96)
        for command in ("top", "flame"):
            by_name = json.loads(run(command, "--json", "--profile", "units (seconds)", SEVERAL).stdout)
            by_number = json.loads(run(command, "--json", "--profile", "2", SEVERAL).stdout)
            self.assertEqual(by_name, by_number)
            self.assertEqual(by_name["metric"], answer["profiles"][1]["metrics"][0]["name"])
        self.assertIn("300 ms", run("tree", "--profile", "units (seconds)", SEVERAL).stdout.decode())
        refused = run("top", "--profile", "9", SEVERAL, code=1).stderr.decode()
        self.assertIn("it holds 3: 1 units (bytes), 2 units (seconds), 3 units (none)", refused)

    def daemon(self):
        socket = os.path.join(self.folder.name, "s")
        daemon = subprocess.Popen([PROFD, "serve", "--socket", socket], stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (daemon.terminate(), daemon.wait(10)))
        for _ in range(500):
            if os.path.exists(socket):
                break
            time.sleep(0.01)
        return socket

    def test_json_of_commands_is_the_answer_of_the_daemon(self):
        ask = ("query", "--socket", self.daemon(), "--no-start")
        opening = ("profile/open", json.dumps({"uri": "file://" + os.path.abspath(CPU)}))

        def same(method, params, *command):
            theirs = json.loads(run(*ask, *opening, method, json.dumps(params)).stdout.splitlines()[1])
            ours = json.loads(run(*command, CPU).stdout)
            for answer in (ours, theirs):
                self.assertEqual(answer.pop("revision"), 1)
                answer.pop("profile")
                answer.get("boxes", {}).pop("node", None)
            self.assertEqual(ours, theirs)

        view = {"width": 1200}
        for spec in ("top-down by function", "bottom-up by file", "top-down by function | keep function /main/",
                     "top-down by function | hide function /^runtime/ | metric samples", "callers of main.main by function"):
            same("view/flameGraph", {"spec": spec, "viewport": view}, "flame", "--json", "--spec", spec)
            # A share is of the view, and no part of a view is more than the view.
            boxes = json.loads(run("flame", "--json", "--spec", spec, CPU).stdout)
            self.assertEqual(boxes["total"]["share"], 1)
            self.assertLessEqual(boxes["zoomTotal"]["share"], 1)
        same("view/flameGraph", {"spec": "top-down by function", "viewport": {"width": 100, "minWidth": 1}, "order": "weight"},
             "tree", "--json", "--min-share", "1")
        same("view/table", {"spec": "flat by line", "limit": 7, "sort": "total"},
             "top", "--json", "-n", "7", "--sort", "total", "--granularity", "line")
        same("view/search", {"spec": "top-down by function", "pattern": "json", "limit": 3}, "search", "--json", "-n", "3", "json")

    def test_query_asks_several_things_over_one_connection(self):
        socket = self.daemon()
        path = self.file("a.folded", FOLDED)
        opening = json.dumps({"uri": "file://" + path})
        ask = ("query", "--socket", socket, "--no-start")
        # What the connection opened is open for its next request, and closed after the last.
        lines = run(*ask, "profile/open", opening, "profile/list", "view/hotspots", '{"limit": 1}').stdout.splitlines()
        self.assertEqual(len(lines), 3)
        handle = json.loads(lines[0])["profile"]
        self.assertEqual([p["profile"] for p in json.loads(lines[1])["profiles"]], [handle])
        self.assertEqual(json.loads(lines[2])["places"][0]["name"], "gc")
        self.assertEqual(json.loads(run(*ask, "profile/list").stdout)["profiles"], [])
        text = f"# comment\n\nprofile/open {opening}\n  metric/list  \nno/such {{}}\nprofile/list\nprofile/list nonsense\n"
        mixed = run(*ask, "-", stdin=text.encode(), code=1)
        self.assertEqual(len(mixed.stdout.splitlines()), 3)
        self.assertEqual(json.loads(mixed.stdout.splitlines()[1])["default"], "samples")
        self.assertIn(b"no/such", mixed.stderr)
        self.assertIn(b"line 7", mixed.stderr)
        run(*ask, '{"limit": 1}', code=2)
        run(*ask, "profile/list", "{broken", code=2)
        run(*ask, "no/such", code=1)

    def test_a_daemon_on_stdio_ends_with_the_process_of_its_client(self):
        parent = subprocess.Popen(["sleep", "60"])
        self.addCleanup(lambda: parent.poll() is None and parent.kill())
        daemon = subprocess.Popen([PROFD, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (daemon.poll() is None and daemon.kill(), daemon.wait(), daemon.stdin.close(), daemon.stdout.close()))
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": parent.pid, "capabilities": {}}})
        daemon.stdin.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        daemon.stdin.flush()
        daemon.stdout.read(20)
        self.assertIsNone(daemon.poll())
        parent.kill()
        parent.wait()
        # Its stdin is still open: that alone would keep it.
        self.assertEqual(daemon.wait(20), 0)

    def test_filters_and_specs_narrow_the_view(self):
        path = self.file("a.folded", FOLDED)
        kept = json.loads(run("top", "--json", "--filter", "keep function /^http/", path).stdout)
        self.assertEqual(answers.view_total(kept), 50)
        both = json.loads(run("top", "--json", "--spec", "top-down by function | drop function gc", path).stdout)
        self.assertEqual(answers.view_total(both), 50)
        # A list shows no tree; it does not show something else in its place.
        for command in (["top"], ["search", "gc"], ["hotspots"], ["list", "gc"], ["summary"], []):
            self.assertIn("is a tree", run(*command, "--spec", "bottom-up", path, code=2).stderr.decode())

    def test_tree_shows_shares_and_shapes(self):
        path = self.file("a.folded", FOLDED)
        text = run("tree", path).stdout.decode()
        self.assertIn("├ gc", text)
        self.assertIn("100 %", text)
        callers = run("tree", "--shape", "callers of json.parse", path).stdout.decode()
        self.assertIn("http.serve", callers)
        self.assertIn("no frame is called", run("tree", "--shape", "callers of nobody", path, code=1).stderr.decode())

    def test_flame_fits_the_width_without_colours(self):
        text = run("flame", self.file("a.folded", FOLDED), env={"COLUMNS": "60"}).stdout.decode()
        self.assertNotIn("\x1b", text)
        for line in text.splitlines()[1:]:
            self.assertLessEqual(len(line), 60)
        self.assertIn("|gc", text)

    def test_colours_obey_the_option_and_the_environment(self):
        path = self.file("a.folded", FOLDED)
        self.assertIn(b"\x1b[", run("flame", "--color", "always", path).stdout)
        self.assertIn(b"\x1b[", run("flame", path, env={"CLICOLOR_FORCE": "1"}).stdout)
        self.assertNotIn(b"\x1b[", run("flame", path, env={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}).stdout)
        self.assertNotIn(b"\x1b", run("flame", "--color", "never", path, env={"CLICOLOR_FORCE": "1"}).stdout)

    def test_flame_json_is_a_layout_in_columns(self):
        answer = json.loads(run("flame", "--json", "--width", "800", self.file("a.folded", FOLDED)).stdout)
        boxes = answer["boxes"]
        lengths = {len(column) for column in boxes.values()}
        self.assertEqual(lengths, {5})
        names = [answer["names"][i] for i in boxes["name"]]
        self.assertEqual(names[0], "all")
        self.assertEqual(answer["viewTotal"]["value"], 100)
        for i, parent in enumerate(boxes["parent"]):
            if parent < 0:
                continue
            self.assertGreaterEqual(boxes["x"][i], boxes["x"][parent])
            self.assertLessEqual(boxes["x"][i] + boxes["width"][i], boxes["x"][parent] + boxes["width"][parent])

    def test_the_page_is_well_formed_and_keeps_names_as_text(self):
        out = os.path.join(self.folder.name, "out.svg")
        run("flame", "-o", out, self.file("evil.folded", HOSTILE))
        tree = ElementTree.parse(out)
        with open(out, encoding="utf-8") as source:
            page = source.read()
        self.assertNotIn("<script>alert", page)
        self.assertNotIn("\u202e", page)
        self.assertEqual(len([e for e in tree.iter() if e.tag.endswith("}script")]), 1)
        titles = "".join(e.text or "" for e in tree.iter() if e.tag.endswith("}title"))
        self.assertIn("<script>alert(1)</script>", titles)
        run("flame", "-o", os.path.join(self.folder.name, "no", "such", "out.svg"), CPU, code=1)

    def test_the_page_takes_a_title_palette_and_direction(self):
        out = os.path.join(self.folder.name, "out.svg")
        path = self.file("a.folded", FOLDED)
        run("flame", "--inverted", "--title", "after the <fix>", "--palette", "cool", "-o", out, path)
        with open(out, encoding="utf-8") as source:
            page = source.read()
        self.assertIn("<title>after the &lt;fix&gt; - samples</title>", page)
        self.assertIn('data-inverted="1"', page)
        lines = run("flame", "--inverted", path, env={"COLUMNS": "60"}).stdout.decode().splitlines()
        self.assertIn("|all", lines[-1])
        self.assertIn("--output", run("flame", "--title", "x", path, code=2).stderr.decode())

    def test_filters_take_names_as_they_are_shown_and_say_what_matches_nothing(self):
        path = self.file("a.folded", "main;crypto/sha256.block 30\nmain;crypto/sha512.block 10\nmain 2\n")
        for name in ("sha256.block", "crypto/sha256.block"):
            answer = json.loads(run("top", "--json", "--filter", f"drop function {name}", path).stdout)
            self.assertNotIn("crypto/sha256.block", [row["name"] for row in answers.rows_of(answer)])
        several = run("top", "--filter", "drop function block", path, code=1).stderr.decode()
        self.assertIn('"block" is short for 2 functions: crypto/sha256.block, crypto/sha512.block', several)
        for command in ([], ["top"], ["tree"], ["flame"]):
            warned = run(*command, "--filter", "drop function nobody", path)
            self.assertIn("`drop function nobody` matches nothing", warned.stderr.decode())
        out = os.path.join(self.folder.name, "rows.json")
        self.assertIn("matches nothing", run("convert", "--filter", "hide file x.c", path, out).stderr.decode())
        page = os.path.join(self.folder.name, "out.svg")
        run("flame", "--filter", "hide file x.c", "-o", page, path)
        with open(page, encoding="utf-8") as source:
            self.assertIn(">`hide file x.c` matches nothing</text>", source.read())
        answer = run("convert", "--to", "json", "--filter", "hide file x.c", path, "-").stdout
        self.assertEqual(json.loads(answer)["warnings"], ["`hide file x.c` matches nothing"])
        self.assertIn("71.4 %         30  main", run("tree", "--shape", "callers of sha256.block", path).stdout.decode())

    def test_a_page_opens_again_as_the_profile_it_was_drawn_from(self):
        def rows(path):
            answer = json.loads(run("top", "--json", "-n", "0", path).stdout)
            rows = {row["name"]: (row["self"], row["total"]) for row in answers.rows_of(answer)}
            return answer["metric"], answer["unit"], answers.view_total(answer), rows

        for shape in ("top-down", "bottom-up"):
            out = os.path.join(self.folder.name, f"{shape}.svg")
            run("flame", "--shape", shape, "--width", "100000", "-o", out, CPU)
            self.assertEqual(rows(out), rows(CPU))
            self.assertEqual(json.loads(run("check", "--json", out).stdout)["report"], [])

    def test_control_characters_never_reach_the_terminal(self):
        path = self.file("evil.folded", HOSTILE)
        for command in ([path], ["top", path], ["tree", path], ["flame", path], ["check", path], ["top", "--full", path]):
            text = run(*command).stdout.decode()
            self.assertFalse(set(text) & set("\x1b\x07\u202e"), command)
        bad = run("\x1b[31mno-such-file", code=1)
        self.assertNotIn(b"\x1b", bad.stderr)

    def test_a_unit_has_one_name_in_all_answers(self):
        path = self.file("a.cpuprofile", json.dumps(
            {"nodes": [{"id": 1, "callFrame": {"functionName": "f", "scriptId": "0", "url": "", "lineNumber": 0, "columnNumber": 0},
                        "children": []}], "startTime": 0, "endTime": 10, "samples": [1], "timeDeltas": [10]}))
        units = lambda metrics: {metric["name"]: metric["unit"] for metric in metrics}
        summary = units(json.loads(run("summary", "--json", path).stdout)["metrics"])
        self.assertIn("ns", summary.values())
        self.assertEqual(units(json.loads(run("check", "--json", path).stdout)["profiles"][0]["metrics"]), summary)
        top = json.loads(run("top", "--json", path).stdout)
        self.assertEqual(top["unit"], summary[top["metric"]])

    def test_check_tells_outcomes_one_line_a_file(self):
        fine = self.file("a.folded", FOLDED)
        lossy = self.file("lossy.folded", FOLDED + "a line without a number\n")
        empty = self.file("empty.pprof", "")
        unknown = self.file("unknown.bin", os.urandom(64) + b"\x00\xff")
        lines = run("check", "--json", fine, lossy, empty, unknown, "/no/such/file", code=1).stdout.decode().splitlines()
        answers = [json.loads(line) for line in lines]
        self.assertEqual([a["outcome"] for a in answers][0:2], ["ok", "ok with losses"])
        self.assertTrue(answers[1]["report"])
        self.assertEqual({a["outcome"] for a in answers[2:]} - {"refused", "failed"}, set())
        for answer in answers[2:]:
            self.assertTrue(answer["error"]["message"])
            self.assertIsNone(answer["format"])
        broken = self.file("broken.speedscope.json", '{"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": 1}')
        answer = json.loads(run("check", "--json", broken, code=1).stdout)
        self.assertEqual((answer["outcome"], answer["format"]), ("failed", "speedscope"))
        run("check", fine)
        self.assertEqual(run("check", "--formats").stdout, run("formats").stdout)

    def test_formats_are_a_table_that_fits(self):
        known = json.loads(run("formats", "--json").stdout)["formats"]
        self.assertGreater(len(known), 60)
        for columns in (60, 80, 100, 160):
            lines = run("formats", env={"COLUMNS": str(columns)}).stdout.decode().splitlines()
            self.assertLessEqual(max(map(len, lines[: lines.index("")])), columns)
            self.assertEqual([line.split()[0] for line in lines[1 : lines.index("")]], [f["id"] for f in known])
            marked = [line.split()[0] for line in lines[1 : lines.index("")] if line.split()[1] == "w"]
            self.assertEqual(marked, [f["id"] for f in known if f["writer"]])
        wide = run("formats", env={"COLUMNS": "160"}).stdout.decode()
        self.assertIn("written by", wide)
        self.assertNotIn("\x1b", wide)

    def test_one_format_is_shown_in_full(self):
        for columns in (80, 160):
            text = run("formats", "pprof", env={"COLUMNS": str(columns)}).stdout.decode()
            for label in ("written by", "usual names", "versions", "what is kept", "how to record", "verified with", "profd writes"):
                self.assertIn(label, text)
            self.assertLessEqual(max(map(len, text.splitlines())), columns)
        self.assertIn("*.pb.gz *.pprof", text)
        self.assertIn("go test -cpuprofile", text)
        gmon = run("formats", "gmon").stdout.decode()
        self.assertRegex(gmon, r"profd writes +no\n")
        self.assertIn("gprof", gmon)

    def test_formats_json_has_the_documented_shape(self):
        known = json.loads(run("formats", "--json").stdout)["formats"]
        self.assertEqual([f["id"] for f in known], sorted(f["id"] for f in known))
        for format in known:
            self.assertEqual(list(format), ["id", "title", "extensions", "read", "producer", "versions", "keeps",
                                            "recording", "verified", "writer"])
            if format["read"]:
                for note in ("versions", "keeps", "recording", "verified"):
                    self.assertTrue(format[note], format["id"])
        one = json.loads(run("formats", "--json", "folded").stdout)["formats"]
        self.assertEqual([f["id"] for f in one], ["folded"])
        self.assertEqual(list(one[0]["writer"]), ["extensions", "holds"])
        self.assertIn(".folded", one[0]["extensions"])

    def test_a_format_that_is_none_names_those_that_were_meant(self):
        error = run("formats", "valgrind", code=2).stderr.decode()
        for id in ("callgrind", "cachegrind", "massif", "dhat"):
            self.assertIn(id, error)
        self.assertIn("`profd formats`", run("formats", "unheard-of", code=2).stderr.decode())

    def test_a_file_that_no_format_claims_names_the_list_of_formats(self):
        error = run(self.file("noise.bin", bytes(range(128, 256)) * 3), code=1).stderr.decode()
        self.assertIn("`profd formats`", error)

    def test_bad_files_say_what_where_and_what_next(self):
        self.assertIn("no such file", run(os.path.join(self.folder.name, "missing"), code=1).stderr.decode().lower())
        self.assertIn("empty", run(self.file("empty.pprof", ""), code=1).stderr.decode())
        self.assertIn("is a profile", run(self.folder.name, code=1).stderr.decode())
        self.assertTrue(run(self.file("noise.bin", bytes(range(128, 256)) * 3), code=1).stderr)
        for command in ("summary", "top", "tree", "flame"):
            run(command, self.file("empty.pprof", ""), code=1)

    def test_a_truncated_file_is_an_error_with_the_way_on(self):
        with open(CPU, "rb") as source:
            whole = gzip.decompress(source.read())
        # Cut inside the samples or the tables: never a result in silence, never a crash.
        for share in (0.1, 0.5, 0.9, 0.99):
            path = self.file("cut.pprof", whole[: int(len(whole) * share)])
            result = run("top", path, code=None)
            self.assertEqual(result.returncode, 1, share)
            self.assertIn("byte", result.stderr.decode())
            self.assertEqual(result.stdout, b"")
            self.assertIn(run("top", "--partial", path, code=None).returncode, (0, 1))

    def test_usage_errors_are_2(self):
        run(code=2)
        run("top", code=2)
        run("top", "--no-such-option", CPU, code=2)
        run("top", "-n", "many", CPU, code=2)
        run("convert", CPU, os.path.join(self.folder.name, "x.unheard"), code=2)

    def refused(self, *arguments, code=2):
        return run(*arguments, code=code).stderr.decode()

    def test_a_wrong_choice_lists_the_choices(self):
        self.assertIn('--sort: "foo" is not one of self, total.', self.refused("top", "--sort", "foo", CPU))
        self.assertIn("module, file, kind, warm, cool", self.refused("flame", "--palette", "hot", CPU))
        self.assertIn("auto, always, never (did you mean never?)", self.refused("--color", "nevr", CPU))
        self.assertIn("address, line, function, file, module", self.refused("top", "--granularity", "foo", CPU))
        self.assertIn("top-down, bottom-up", self.refused("tree", "--shape", "foo", CPU))
        self.assertIn("keep, drop, hide or collapse", self.refused("top", "--filter", "foo bar", CPU))
        self.assertIn("it has samples, cpu", self.refused("top", "--metric", "nonsense", CPU, code=1))
        self.assertIn("the regular expression is not valid", self.refused("list", "gc(", CPU))

    def test_near_misses_are_suggested(self):
        meant = "there is neither a command nor a file tpo; did you mean `profd top`?"
        self.assertIn(meant, self.refused("tpo"))
        self.assertIn(meant, self.refused("tpo", CPU))
        self.assertIn("there is no option --srot (did you mean --sort?)", self.refused("top", "--srot", "self", CPU))
        self.assertIn("there is no option --metrc (did you mean --metric?)", self.refused("--metrc=cpu", CPU))
        for arguments, meant, code in ((("top", "--metric", "cpuu"), "cpu", 1), (("top", "--format", "ppprof"), "pprof", 2),
                                       (("tree", "--shape", "botom-up"), "bottom-up", 2), (("top", "--filter", "dorp file x"), "drop", 2),
                                       (("top", "--filter", "keep functon x"), "function", 2)):
            self.assertIn(f"(did you mean {meant}?)", self.refused(*arguments, CPU, code=code))
        self.assertIn("(did you mean file?)", self.refused("top", "--granularity", "fiel", CPU))
        out = os.path.join(self.folder.name, "out")
        self.assertIn("(did you mean folded?)", self.refused("convert", "--to", "foldedd", CPU, out))
        self.assertIn("(did you mean speedscope?)", self.refused("formats", "spedscope"))
        # A file is a file, whatever it is called.
        run(self.file("tpo", FOLDED))

    def test_negative_and_absurd_numbers_are_refused_with_a_sentence(self):
        for command, option in (("top", "-n"), ("search", "-n"), ("tree", "--depth"), ("flame", "--depth"),
                                ("serve", "--idle-timeout"), ("serve", "--port"), ("serve", "--threads")):
            for number in ("-5", "99999999999999999999", "abc", "1.5", ""):
                error = self.refused(command, *(["x"] if command == "search" else []), f"{option}", number,
                                     *([] if command == "serve" else [CPU]))
                self.assertIn(f'{option}: "{number}" is not a whole number from 0 to ', error)
        self.assertIn('--width: "-3" is not a number from 1 to 1000000', self.refused("flame", "--width", "-3", CPU))
        for share in ("-1", "101", "nan", "many"):
            self.assertIn("is not a number from 0 to 100", self.refused("tree", "--min-share", share, CPU))
        self.assertIn("--sort needs a value", self.refused("top", CPU, "--sort"))

    def test_help_prints_no_internals(self):
        for command in ("", *COMMANDS):
            text = run(*([command] if command else []), "--help").stdout.decode()
            for internal in ("TEXT", "UINT", "FLOAT", "INT ", "Excludes", "Needs", "REQUIRED", "{false}", "NONNEGATIVE", ":FILE", "->"):
                self.assertNotIn(internal, text, command)

    def test_notes_of_convert_name_the_file_and_can_be_quiet(self):
        out = os.path.join(self.folder.name, "out.csv")
        notes = run("convert", "--filter", "hide file x.c", CPU, out).stderr.decode()
        self.assertTrue(notes)
        for line in notes.splitlines():
            self.assertTrue(line.startswith(out + ": "), line)
        self.assertEqual(run("convert", "--force", "--quiet", "--filter", "hide file x.c", CPU, out).stderr, b"")
        self.assertIn("No such file", self.refused("convert", "--force", "--quiet", "/nowhere/x", out, code=1))

    def test_a_wrong_request_is_1(self):
        self.assertIn("nonsense", run("top", "--metric", "nonsense", CPU, code=1).stderr.decode())
        self.assertIn("there is no profile", run("top", "--profile", "9", CPU, code=1).stderr.decode())

    def test_help_has_examples_for_every_command(self):
        self.assertIn("Examples:", run("--help").stdout.decode())
        for command in COMMANDS:
            self.assertIn("Examples:", run(command, "--help").stdout.decode(), command)
        self.assertIn("profd", run("--version").stdout.decode())

    def test_a_closed_pipe_is_quiet(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([PROFD, "top", "-n", "0", CPU], stdout=write, stderr=subprocess.PIPE, timeout=60)
        os.close(write)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, b"")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_full_disk_is_told(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROFD, "top", CPU], stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write", done.stderr)

    def test_convert_writes_the_native_format_with_equal_numbers(self):
        out = os.path.join(self.folder.name, "out.profd")
        run("convert", CPU, out)
        for command in (["summary", "--json"], ["top", "--json", "-n", "0"]):
            before = json.loads(run(*command, CPU).stdout)
            after = json.loads(run(*command, out).stdout)
            for answer in (before, after):
                for of_the_file in ("format", "profile"):
                    answer.pop(of_the_file, None)
            self.assertEqual(before, after)

    def test_convert_writes_views(self):
        top = json.loads(run("top", "--json", "-n", "0", "--granularity", "module", CPU).stdout)
        table = run("convert", "--to", "csv", "--view", "flat by module", CPU, "-").stdout.decode().split("\r\n")
        self.assertEqual(len(table), top["rowCount"] + 2)
        self.assertIn(f"self {top['metric']} (", table[0])
        tree = json.loads(run("convert", "--to", "json", "--view", "bottom-up", "--filter", "drop module libc.so.6", CPU, "-").stdout)
        self.assertEqual(tree["rows"][0]["total"][0], tree["metrics"][0]["total"])
        self.assertTrue(run("convert", "--to", "svg", "--granularity", "file", CPU, "-").stdout.startswith(b"<"))
        # A format of stacks holds what the filters leave, and no other shape.
        left = os.path.join(self.folder.name, "left.pb.gz")
        run("convert", "--filter", "keep function /main/", CPU, left)
        kept = answers.view_total(json.loads(run("top", "--json", "--filter", "keep function /main/", CPU).stdout))
        self.assertEqual(answers.view_total(json.loads(run("top", "--json", left).stdout)), kept)
        self.assertIn("top-down", run("convert", "--force", "--view", "bottom-up", CPU, left, code=1).stderr.decode())
        run("convert", "--force", "--view", "gibberish", CPU, left, code=2)
        self.assertEqual(answers.view_total(json.loads(run("top", "--json", left).stdout)), kept)


if __name__ == "__main__":
    unittest.main(verbosity=1)
