#!/usr/bin/env python3
"""The parts of the soak campaign that can be wrong without a daemon: its table, its framing, its files."""
import bz2
import gzip
import io
import lzma
import random
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "soak"), str(ROOT / "tests" / "support")]

import containers  # noqa: E402
import inputs  # noqa: E402
from figures import Table, count_text, seconds_text  # noqa: E402
from mutations import mutated  # noqa: E402
from psp_client import Frames, encode  # noqa: E402


def table(**more):
    return Table(on_line=lambda line: None, **more)


class Figures(unittest.TestCase):
    def test_a_figure_meets_its_target_or_is_missed(self):
        rows = table()
        self.assertTrue(rows.at_most("s", "fast", 0.04, 0.05, seconds_text))
        self.assertFalse(rows.at_most("s", "slow", 0.06, 0.05, seconds_text))
        self.assertFalse(rows.none_of("s", "lost", ["this one"]))
        rows.told("s", "said", "so")
        self.assertEqual([row.verdict for row in rows.rows], ["pass", "MISS", "MISS", ""])
        self.assertEqual((len(rows.missed), rows.n_judged), (2, 3))

    def test_of_a_scene_that_is_played_again_the_worst_is_kept(self):
        rows = table()
        for value in (0.01, 0.06, 0.02, 0.055):
            rows.at_most("s", "time", value, 0.05, seconds_text)
        self.assertEqual([row.measured for row in rows.rows], ["60 ms"])

    def test_a_late_machine_excuses_times_and_is_said(self):
        rows = table()
        rows.at_most("s", "a", 0.08, 0.05, seconds_text, late=0.01)
        rows.at_most("s", "b", 0.1, 0.05, seconds_text, late=0.01)
        rows.at_most("s", "c", 0.2, 0.05, seconds_text, late=0.03)
        rows.at_most("s", "d", 0.3, 0.05, seconds_text, late=0.03)
        self.assertEqual([row.verdict for row in rows.rows], ["pass", "MISS", "pass", "MISS"])
        self.assertIn("late", rows.rows[0].text)

    def test_with_a_sanitizer_times_are_told_and_counts_are_judged(self):
        rows = table(judge_cost=False)
        rows.at_most("s", "time", 9, 1, seconds_text)
        rows.at_most("s", "unanswered", 9, 0, count_text)
        self.assertEqual([row.verdict for row in rows.rows], ["", "MISS"])

    def test_times_and_whole_scenes_can_be_told_and_not_judged(self):
        rows = table(judge_times=False, unjudged=("faults/memory",))
        rows.at_most("s", "time", 9, 1, seconds_text)
        rows.at_most("s", "unanswered", 9, 0, count_text)
        rows.at_most("faults/memory-140", "unanswered", 9, 0, count_text)
        self.assertEqual([row.verdict for row in rows.rows], ["", "MISS", ""])

    def test_markdown_has_every_figure_once(self):
        rows = table()
        for scene in "abcdef":
            rows.at_most(f"acts/{scene}", "time", 0.01, 0.05, seconds_text, "alone 1 ms")
        rows.at_most("acts/c", "memory", 7, 5, count_text)
        rows.holds("a", "alive|well", "yes", "no", False)
        page = rows.markdown("# Soak")
        self.assertEqual(page.count("10 ms"), 6)
        self.assertIn("| acts/c | 10 ms |", page)
        self.assertIn("| acts/c | memory | <= 5 | 7 | MISS |", page)
        self.assertIn("| a | alive\\|well | yes | no | MISS |", page)


class Framing(unittest.TestCase):
    def test_messages_come_out_of_pieces_of_any_size(self):
        messages = [{"id": i, "result": "x" * (i * 37)} for i in range(20)]
        data = b"".join(encode(message) for message in messages)
        for size in (1, 7, 4096):
            frames, found = Frames(), []
            for at in range(0, len(data), size):
                frames.feed(data[at : at + size])
                while (body := frames.next()) is not None:
                    found.append(body)
            self.assertEqual(b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in found), data)


class Files(unittest.TestCase):
    def test_a_bomb_is_an_honest_gzip_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bomb.gz"
            inputs.write_gzip_bomb(path, 64 << 20)
            text = gzip.decompress(path.read_bytes())
            self.assertEqual(text, inputs.BOMB_LINE * (len(text) // len(inputs.BOMB_LINE)))
            self.assertGreater(len(text), 60 << 20)
            self.assertLess(path.stat().st_size, 100_000)

    def test_the_same_seed_writes_the_same_profile(self):
        with tempfile.TemporaryDirectory() as folder:
            a, b, c = (Path(folder) / name for name in "abc")
            totals = [inputs.write_pprof(a, 1, 7), inputs.write_pprof(b, 1, 7), inputs.write_pprof(c, 1, 8)]
            self.assertEqual(totals[0], totals[1])
            self.assertEqual(gzip.decompress(a.read_bytes()), gzip.decompress(b.read_bytes()))
            self.assertNotEqual(gzip.decompress(a.read_bytes()), gzip.decompress(c.read_bytes()))

    def test_containers_hold_the_text(self):
        data, total = inputs.folded_text(random.Random(1), 12)
        self.assertEqual(sum(int(line.split()[-1]) for line in data.splitlines()), total)

        def from_zip(content):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                return archive.read(archive.namelist()[0])

        def from_tar(content):
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
                return archive.extractfile("a.folded").read()

        readers = {".folded.gz": gzip.decompress, ".folded.bz2": bz2.decompress, ".folded.xz": lzma.decompress, ".tar.gz": from_tar}
        for name, (ending, pack) in containers.CONTAINERS.items():
            if name == "gzip in zip, stored":
                self.assertEqual(gzip.decompress(from_zip(pack(data))), data)
            elif ending == ".zip":
                self.assertEqual(from_zip(pack(data)), data)
            elif ending in readers:
                self.assertEqual(readers[ending](pack(data)), data, name)

    def test_a_mutant_is_known_by_its_seed(self):
        data = b"main;f 12\nmain;g 30\n" * 20
        mutants = [mutated(random.Random(f"1 mutant {i}"), data) for i in range(300)]
        self.assertEqual(mutants, [mutated(random.Random(f"1 mutant {i}"), data) for i in range(300)])
        self.assertGreater(len(set(mutants)), 290)


if __name__ == "__main__":
    unittest.main()
