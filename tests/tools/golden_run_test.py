#!/usr/bin/env python3
"""Tests tests/golden/run.py against a stand-in for the program."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ROOT / "tests" / "golden" / "run.py"
VERSION = re.search(r"stepcast VERSION ([\d.]+)",
                    (ROOT / "CMakeLists.txt").read_text()).group(1)

# Does what its first argument says.
PROGRAM = f"""#!/bin/sh
case "$1" in
  show) cat "$2" ;;
  size) wc -c < "$2" ;;
  copy) cp "$2" "$3" ;;
  fail) echo "error: no $2" >&2; exit 2 ;;
  path) echo "$2" ;;
  absolute) echo "$PWD/$2" ;;
  version) echo "stepcast {VERSION} reads schema 1.1.1" ;;
  unfinished) printf 'no newline' ;;
  crash) kill -SEGV $$ ;;
esac
"""


class GoldenRunTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.binary = self.root / "program"
        self.binary.write_text(PROGRAM)
        self.binary.chmod(0o755)
        self.case = self.root / "case.txt"

    def run_case(self, text, *options):
        """Runs the case; returns (exit status, output)."""
        self.case.write_text(text)
        done = subprocess.run(
            [sys.executable, str(RUN), "--binary", str(self.binary), *options,
             str(self.case)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_passes(self, text):
        status, output = self.run_case(text)
        self.assertEqual((status, output), (0, ""))

    def assert_fails_with(self, text, *parts):
        status, output = self.run_case(text)
        self.assertEqual(status, 1, output)
        for part in parts:
            self.assertIn(part, output)

    def test_input_output_and_blank_lines_match(self):
        self.assert_passes("# S.\n--- file a/b.txt\nx\n\n$ y\n--- end\n"
                           "$ stepcast show a/b.txt\n> x\n>\n> $ y\n")

    def test_a_difference_is_shown_as_a_diff_with_its_place(self):
        self.assert_fails_with(
            "# S.\n$ stepcast path new\n> old\n",
            "case.txt:2: $ stepcast path new", "-> old", "+> new")

    def test_stderr_and_exit_status_are_compared(self):
        self.assert_passes("# S.\n$ stepcast fail 'two words'\n"
                           "! error: no two words\n= 2\n")
        self.assert_fails_with("# S.\n$ stepcast fail it\n! error: no it\n",
                               "+= 2")
        self.assert_fails_with("# S.\n$ stepcast fail it\n= 2\n",
                               "+! error: no it")

    def test_gz_base64_and_first_shape_the_input(self):
        self.assert_passes("# S.\n--- file a.gz\ntext\n--- end\n$ cat a.gz\n"
                           "> text\n")
        self.assert_passes("# S.\n--- file a base64\nAP8K\n--- end\n"
                           "$ stepcast size a\n> 3\n")
        self.assert_passes("# S.\n--- file a.gz first 12\ntext\n--- end\n"
                           "$ stepcast size a.gz\n> 12\n")
        self.assert_passes("# S.\n--- file empty\n--- end\n"
                           "$ stepcast size empty\n> 0\n")

    def test_files_written_by_a_command_can_be_listed_and_shown(self):
        self.assert_passes("# S.\n--- file a\nx\n--- end\n"
                           "$ stepcast copy a b\n$ ls\n> a\n> b\n"
                           "$ cat b\n> x\n")

    def test_shared_files_are_copied_one_by_one_or_by_the_folder(self):
        self.assert_passes("# S.\n--- use tiny/node.toml tiny_server.toml\n"
                           "$ ls\n> tiny/node.toml\n> tiny_server.toml\n")
        status, output = self.run_case("# S.\n--- use tiny\n$ ls\n",
                                       "--update")
        self.assertEqual(status, 0, output)
        self.assertIn("> tiny/device.toml\n> tiny/node.toml\n",
                      self.case.read_text())

    def test_compact_joins_brackets_that_fit_a_line(self):
        long = '"' + "x" * 250 + '"'
        self.assert_passes(
            "# S.\n--- file a\n"
            "{\n  \"a\": [\n    1,\n    [\n      2\n    ]\n  ],\n"
            f"  \"b\": {{\n    \"c\": {long}\n  }},\n  \"d\": []\n}}\n"
            "--- end\n$ stepcast show a | compact\n"
            "> {\n>   \"a\": [1, [2]],\n>   \"b\": {\n"
            f">     \"c\": {long}\n>   }},\n>   \"d\": []\n> }}\n")

    def test_paths_of_this_machine_do_not_show(self):
        self.assert_passes("# S.\n--- file a\nx\n--- end\n"
                           "$ stepcast absolute a\n> a\n")

    def test_version_is_a_placeholder(self):
        self.assert_passes("# S.\n$ stepcast version\n"
                           "> stepcast @VERSION@ reads schema 1.1.1\n")

    def test_update_rewrites_only_the_expectations(self):
        status, _ = self.run_case(
            "# S.\n--- file a\n> kept\n--- end\n$ stepcast show a\n> stale\n"
            "= 1\n\n# Then:\n$ stepcast version\n$ stepcast fail x\n",
            "--update")
        self.assertEqual(status, 0)
        self.assertEqual(
            self.case.read_text(),
            "# S.\n--- file a\n> kept\n--- end\n$ stepcast show a\n> > kept\n"
            "\n# Then:\n$ stepcast version\n"
            "> stepcast @VERSION@ reads schema 1.1.1\n"
            "$ stepcast fail x\n! error: no x\n= 2\n")
        self.assert_passes(self.case.read_text())

    def test_bad_behaviour_never_passes_even_when_updated(self):
        for verb, why in (("crash", "signal"), ("unfinished", "newline")):
            status, output = self.run_case(f"# S.\n$ stepcast {verb}\n",
                                           "--update")
            self.assertEqual(status, 1)
            self.assertIn(why, output)

    def test_a_wrong_case_file_is_refused(self):
        self.assert_fails_with("$ stepcast version\n", "sentence")
        self.assert_fails_with("# S.\n", "no command")
        self.assert_fails_with("# S.\n" * 150 + "$ ls\n", "has 151 lines")
        self.assert_fails_with("# S.\nstray\n$ ls\n", "case.txt:2", "stray")
        self.assert_fails_with("# S.\n> x\n", "before any command")
        self.assert_fails_with("# S.\n--- file a\n", "--- end")
        self.assert_fails_with("# S.\n--- file ../a\n--- end\n$ ls\n",
                               "outside")
        self.assert_fails_with("# S.\n--- use nothing\n$ ls\n",
                               "has no nothing")
        self.assert_fails_with("# S.\n$ rm -rf x\n", "not rm")


if __name__ == "__main__":
    unittest.main()
