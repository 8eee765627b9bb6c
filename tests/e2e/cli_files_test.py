#!/usr/bin/env python3
"""Files as commands read and write them: what is refused, what is lost, what is never written over.

usage: cli_files_test.py PROFD
"""
import gzip
import json
import os
import subprocess
import unittest

from cli_program import CPU, FOLDED, HOSTILE, PROFD, SEVERAL, InFolder, csv_rows, read, run


class Files(InFolder):
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

    def test_several_files_are_answered_one_after_another(self):
        a, b = self.file("a.folded", FOLDED), self.file("b.folded", "other 7\n")
        text = run("top", a, b).stdout.decode()
        self.assertLess(text.index(a), text.index("gc"))
        self.assertLess(text.index("gc"), text.index(b))
        rows = csv_rows("top", "--csv", "-n", "0", a, b)
        self.assertEqual([row["profile"] for row in rows], [a] * 4 + [b])
        for command in (["top"], ["tree"], ["search", "."], ["summary"]):
            lines = run(*command, "--json", a, b).stdout.splitlines()
            self.assertEqual(len([json.loads(line) for line in lines]), 2, command)
        # One that cannot be read keeps nobody from the others, and is told by the exit code.
        done = run("top", "--csv", os.path.join(self.folder.name, "none"), b, code=1)
        self.assertIn(b"other", done.stdout)

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

    def test_control_characters_never_reach_the_terminal(self):
        path = self.file("evil.folded", HOSTILE)
        for command in ([path], ["top", path], ["tree", path], ["flame", path], ["check", path], ["top", "--full", path]):
            text = run(*command).stdout.decode()
            self.assertFalse(set(text) & set("\x1b\x07\u202e"), command)
        bad = run("\x1b[31mno-such-file", code=1)
        self.assertNotIn(b"\x1b", bad.stderr)

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


if __name__ == "__main__":
    unittest.main(verbosity=1)
