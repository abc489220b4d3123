#!/usr/bin/env python3
"""Tests tools/check_layers.py on small trees with one fault each."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_layers  # noqa: E402  (found through the line above)

LAYERS = "base:\nir:base\ncli:base,ir\n"


def complaints_about(files, layers=LAYERS):
    """Checks a tree of {path: text} and returns the complaints."""
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        (root / "src").mkdir()
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (root / "layers.txt").write_text(layers)
        return check_layers.check_tree(root, root / "layers.txt")


class CheckLayersTest(unittest.TestCase):

    def test_declared_and_own_includes_pass(self):
        text = '#include "ir/graph.h"\n#include "base/ids.h"\n#include <map>\n'
        self.assertEqual(complaints_about({"src/ir/graph.cc": text}), [])

    def test_an_upward_include_is_named_with_its_line(self):
        found = complaints_about({"src/ir/a.h": '\n  # include "cli/x.h"\n'})
        self.assertEqual(len(found), 1)
        self.assertIn("a.h:2: ir may not include cli", found[0])

    def test_a_file_in_a_subfolder_belongs_to_the_module(self):
        found = complaints_about({"src/base/deep/a.cc": '#include "ir/b.h"\n'})
        self.assertIn("base may not include ir", found[0])

    def test_an_undeclared_folder_fails(self):
        found = complaints_about({"src/engine/a.cc": "int x;\n"})
        self.assertIn("not declared", found[0])

    def test_an_include_outside_any_module_fails(self):
        for target in ("graph.h", "../base/ids.h", "fmt/format.h"):
            found = complaints_about(
                {"src/ir/a.cc": f'#include "{target}"\n'})
            self.assertIn("is in no module", found[0])

    def test_only_unit_tests_may_include_test_helpers(self):
        text = '#include "tests/testing/builder.h"\n'
        self.assertEqual(complaints_about({"src/ir/a_test.cc": text}), [])
        self.assertEqual(len(complaints_about({"src/ir/a.cc": text})), 1)

    def test_names_are_looked_up_before_the_engine_runs(self):
        layers = "hw:\nengine:hw\nscenario:hw,engine\n"
        text = 'auto gpu = hw::FindDevice("a100");\n'
        found = complaints_about({"src/engine/a.cc": text}, layers)
        self.assertIn("a.cc:1: engine looks a name up with hw::FindDevice",
                      found[0])
        for path in ("src/scenario/a.cc", "src/engine/a_test.cc"):
            self.assertEqual(complaints_about({path: text}, layers), [])

    def test_dependencies_must_be_declared_first(self):
        found = complaints_about({}, "base:ir\nir:base\n")
        self.assertEqual(len(found), 1)
        self.assertIn("base depends on ir", found[0])


if __name__ == "__main__":
    unittest.main()
