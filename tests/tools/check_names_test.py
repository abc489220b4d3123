#!/usr/bin/env python3
"""Tests tools/check_names.py on small modules."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_names  # noqa: E402  (found through the line above)


def complaints_about(**files):
    """Checks a module with sources of these anonymous namespaces."""
    with tempfile.TemporaryDirectory() as scratch:
        module = pathlib.Path(scratch) / "ir"
        module.mkdir()
        for name, text in files.items():
            (module / f"{name}.cc").write_text(
                f"namespace stepcast {{\nnamespace {{\n{text}\n}}  // namespace\n}}\n")
        return check_names.check_tree(pathlib.Path(scratch))


class CheckNamesTest(unittest.TestCase):

    def check_clash(self, a, b, name):
        found = complaints_about(a=a, b=b)
        self.assertEqual(len(found), 1, found)
        self.assertIn(f"a.cc:3: {name} is also defined in", found[0])

    def test_types_constants_and_aliases_clash(self):
        self.check_clash("struct Row {", "class Row {", "Row")
        self.check_clash("enum class Row { kA };", "using Row = int;", "Row")
        self.check_clash("constexpr int kRows = 1;", "constexpr double kRows[] = {1};", "kRows")

    def test_functions_clash_where_their_parameters_are_the_same(self):
        self.check_clash("int Sum(const A& a, int b) {", "double Sum(const A& c,\n           int d) {",
                         "Sum(const A&, int)")
        self.assertEqual(complaints_about(a="int Sum(int a) {", b="int Sum(const A& a) {"), [])

    def test_a_constant_in_a_function_shadows_that_of_another_file(self):
        found = complaints_about(a="constexpr int kRows = 1;",
                                 b="void F() {\n  constexpr double kRows = 2;\n}")
        self.assertEqual(len(found), 1, found)
        self.assertIn("b.cc:4: kRows shadows that of", found[0])
        self.assertEqual(complaints_about(a="constexpr int kRows = 1;",
                                          a_test="void F() {\n  constexpr int kRows = 2;\n}"), [])

    def test_what_is_inside_a_function_or_a_test_target_does_not_count(self):
        self.assertEqual(complaints_about(a="void F() {\n  struct Row {};", b="struct Row {"), [])
        self.assertEqual(complaints_about(a="struct Row {", a_test="struct Row {"), [])


if __name__ == "__main__":
    unittest.main()
