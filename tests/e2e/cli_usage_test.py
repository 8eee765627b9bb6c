#!/usr/bin/env python3
"""What is typed wrong, and help.

usage: cli_usage_test.py PROFD
"""
import os
import unittest

from cli_program import COMMANDS, CPU, FOLDED, InFolder, refused, run


class Usage(InFolder):
    def test_a_wrong_filter_or_view_is_a_wrong_command_line(self):
        path = self.file("a.folded", FOLDED)
        out = os.path.join(self.folder.name, "out.pprof")
        taking = {"": [path], "summary": [path], "top": [path], "tree": [path], "flame": [path], "hotspots": [path], "list": ["main", path], "markers": [path], "heatmap": [path], "annotate": [path], "report": [path], "search": ["main", path], "convert": [path, out], "symbolize": [path],
                  "diff": [path, path], "aggregate": [path, path], "join": [path, path], "correlate": [path], "offcpu": [path], "leaks": [path, path, path, path], "analyse": ["gc_share", path], "gate": ["--rule", "new < 1%", "--base", path, "--head", path]}
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

    def test_usage_errors_are_2(self):
        run(code=2)
        run("top", code=2)
        run("top", "--no-such-option", CPU, code=2)
        run("top", "-n", "many", CPU, code=2)
        run("convert", CPU, os.path.join(self.folder.name, "x.unheard"), code=2)

    def test_a_wrong_choice_lists_the_choices(self):
        self.assertIn('--sort: "foo" is not one of self, total.', refused("top", "--sort", "foo", CPU))
        self.assertIn("module, file, kind, work, warm, cool", refused("flame", "--palette", "hot", CPU))
        self.assertIn("auto, always, never (did you mean never?)", refused("--color", "nevr", CPU))
        self.assertIn("address, line, function, file, module", refused("top", "--granularity", "foo", CPU))
        self.assertIn("top-down, bottom-up", refused("tree", "--shape", "foo", CPU))
        self.assertIn("keep, drop, hide or collapse", refused("top", "--filter", "foo bar", CPU))
        self.assertIn("it has samples, cpu", refused("top", "--metric", "nonsense", CPU, code=1))
        self.assertIn("the regular expression is not valid", refused("list", "gc(", CPU))

    def test_near_misses_are_suggested(self):
        meant = "there is neither a command nor a file tpo; did you mean `profd top`?"
        self.assertIn(meant, refused("tpo"))
        self.assertIn(meant, refused("tpo", CPU))
        self.assertIn("there is no option --srot (did you mean --sort?)", refused("top", "--srot", "self", CPU))
        self.assertIn("there is no option --metrc (did you mean --metric?)", refused("--metrc=cpu", CPU))
        for arguments, meant, code in ((("top", "--metric", "cpuu"), "cpu", 1), (("top", "--format", "ppprof"), "pprof", 2),
                                       (("tree", "--shape", "botom-up"), "bottom-up", 2), (("top", "--filter", "dorp file x"), "drop", 2),
                                       (("top", "--filter", "keep functon x"), "function", 2)):
            self.assertIn(f"(did you mean {meant}?)", refused(*arguments, CPU, code=code))
        self.assertIn("(did you mean file?)", refused("top", "--granularity", "fiel", CPU))
        out = os.path.join(self.folder.name, "out")
        self.assertIn("(did you mean folded?)", refused("convert", "--to", "foldedd", CPU, out))
        self.assertIn("(did you mean speedscope?)", refused("formats", "spedscope"))
        # A file is a file, whatever it is called.
        run(self.file("tpo", FOLDED))

    def test_negative_and_absurd_numbers_are_refused_with_a_sentence(self):
        for command, option in (("top", "-n"), ("search", "-n"), ("tree", "--depth"), ("flame", "--depth"),
                                ("serve", "--idle-timeout"), ("serve", "--port"), ("serve", "--threads")):
            for number in ("-5", "99999999999999999999", "abc", "1.5", ""):
                error = refused(command, *(["x"] if command == "search" else []), f"{option}", number,
                                     *([] if command == "serve" else [CPU]))
                self.assertIn(f'{option}: "{number}" is not a whole number from 0 to ', error)
        self.assertIn('--width: "-3" is not a number from 1 to 1000000', refused("flame", "--width", "-3", CPU))
        for share in ("-1", "101", "nan", "many"):
            self.assertIn("is not a number from 0 to 100", refused("tree", "--min-share", share, CPU))
        self.assertIn("--sort needs a value", refused("top", CPU, "--sort"))

    def test_help_prints_no_internals(self):
        for command in ("", *COMMANDS):
            text = run(*([command] if command else []), "--help").stdout.decode()
            for internal in ("TEXT", "UINT", "FLOAT", "INT ", "Excludes", "Needs", "REQUIRED", "{false}", "NONNEGATIVE", ":FILE", "->"):
                self.assertNotIn(internal, text, command)

    def test_help_has_examples_for_every_command(self):
        self.assertIn("Examples:", run("--help").stdout.decode())
        for command in COMMANDS:
            self.assertIn("Examples:", run(command, "--help").stdout.decode(), command)
        self.assertIn("profd", run("--version").stdout.decode())


if __name__ == "__main__":
    unittest.main(verbosity=1)
