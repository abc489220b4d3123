#!/usr/bin/env python3
"""Tests the journal and the tables made from it."""
import pathlib
import tempfile
import unittest

import collect_path  # noqa: F401  (finds the modules below)
import case
import journal


def point(name, time, kind="gemm"):
    return {"type": "point", "id": name, "kind": kind, "at_s": time,
            "rows": [{"gpu": "g", "m": time}]}


class JournalTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def test_a_line_cut_off_at_any_byte_is_as_if_it_were_never_written(self):
        first = journal.Journal(self.root)
        first.add(point("a", 1.0))
        good = (self.root / journal.NAME).read_bytes()
        first.add(point("b", 2.0))
        first.close()
        whole = (self.root / journal.NAME).read_bytes()
        for cut in range(len(good), len(whole)):
            (self.root / journal.NAME).write_bytes(whole[:cut])
            again = journal.Journal(self.root)
            self.assertEqual(again.done(), {"a"})
            again.add(point("b", 3.0))
            again.close()
            after = journal.Journal(self.root)
            self.assertEqual(after.done(), {"a", "b"})
            after.close()

    def visit(self, book, name, time_us, disturbed=True):
        book.add({"type": "point", "id": name, "kind": "gemm",
                  "disturbed": disturbed,
                  "rows": [{"gpu": "g", "time_us": time_us}]})

    def times(self, book):
        return [row["time_us"] for _, row in book.rows()]

    def test_a_disturbed_point_is_done_by_a_visit_that_was_not(self):
        book = journal.Journal(self.root)
        self.visit(book, "a", 1.0)
        self.assertEqual((book.done(), book.disturbed()), (set(), {"a": 1}))
        self.assertEqual(self.times(book), [1.0])
        self.visit(book, "a", 2.0, disturbed=False)
        self.assertEqual((book.done(), book.disturbed()), ({"a"}, {}))
        self.assertEqual(self.times(book), [2.0])
        book.close()

    def test_of_visits_that_all_were_disturbed_the_fastest_counts(self):
        book = journal.Journal(self.root)
        for time_us in (3.0, 1.0, 2.0):
            self.assertEqual(book.done(), set())
            self.visit(book, "a", time_us)
        self.assertEqual(book.done(), {"a"})
        self.assertEqual(self.times(book), [1.0])
        book.close()

    def test_the_time_of_all_runs_adds_up(self):
        book = journal.Journal(self.root)
        for entry in ({"type": "run", "at_s": 0.0}, point("a", 5.0),
                      {"type": "run", "at_s": 0.5}, point("b", 3.0)):
            book.add(entry)
        self.assertEqual(book.spent(), 8.0)
        book.close()

    def test_tables_have_the_columns_in_order_and_no_commas_inside(self):
        rows = [("gemm", {"gpu": "g", "m": 3, "t": 1.25, "d": [[1, 2], []],
                          "names": "a,b"})]
        journal.write_tables(self.root, rows,
                             {"gemm": ["gpu", "t", "m", "d", "names", "x"]})
        text = (self.root / "gemm" / "g.csv").read_text()
        self.assertEqual(text, "gpu,t,m,d,names,x\ng,1.25,3,[[1;2];[]],a;b,\n")


class TextTest(unittest.TestCase):

    def test_arguments_are_written_as_the_collected_tables_have_them(self):
        row = case.aten_row("copy_", [[2, 3], [2, 3], []],
                            strides=[(3, 1), (1, 2), ()],
                            values=["", "", "False"])
        self.assertEqual(row["input_dims"], "[[2;3];[2;3];[]]")
        self.assertEqual(row["input_strides"], "((3;1;);(1;2;);())")
        self.assertEqual(row["concrete_inputs"], "('';'';'False')")


if __name__ == "__main__":
    unittest.main()
