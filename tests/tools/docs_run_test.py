#!/usr/bin/env python3
"""Tests tests/docs/run.py against a stand-in for the program."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ROOT / "tests" / "docs" / "run.py"

# Does what its first argument says.
PROGRAM = """#!/bin/sh
case "$1" in
  show) cat "$2" ;;
  count) seq "$2" ;;
  list) echo "name time"; echo "first $2 ms"; echo "other 7 ms"; echo end ;;
  fail) echo "stepcast: no $2" >&2; exit 2 ;;
  check) echo "too slow"; exit 1 ;;
esac
"""


def console(text):
    return f"```console\n{text}\n```\n"


class DocsRunTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.binary = self.root / "program"
        self.binary.write_text(PROGRAM)
        self.binary.chmod(0o755)
        self.page = self.root / "page.md"

    def run_page(self, text, *options):
        """Runs the page; returns (exit status, output)."""
        self.page.write_text(text)
        done = subprocess.run(
            [sys.executable, str(RUN), "--binary", str(self.binary), *options,
             str(self.page)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_passes(self, text, counts="1 passed, 0 failed, 0 skipped"):
        status, output = self.run_page(text)
        self.assertEqual(status, 0, output)
        self.assertTrue(output.endswith(counts + "\n"), output)

    def assert_fails_with(self, text, *parts):
        status, output = self.run_page(text)
        self.assertEqual(status, 1, output)
        for part in parts:
            self.assertIn(part, output)

    def assert_updates(self, before, after):
        status, output = self.run_page(before, "--update")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.page.read_text(), after)

    def test_output_that_is_shown_is_what_comes_out(self):
        self.assert_passes(console("$ stepcast count 2\n1\n2"))

    def test_a_number_that_differs_fails_with_the_difference(self):
        self.assert_fails_with(console("$ stepcast count 2\n1\n3"),
                               "page.md:1", "-3", "+2", "failed: ")

    def test_output_that_is_not_shown_fails(self):
        self.assert_fails_with(console("$ stepcast count 1"), "+1")

    def test_three_dots_stand_for_lines(self):
        self.assert_passes(console("$ stepcast count 9\n1\n...\n5\n6\n  ...\n9"))

    def test_three_dots_stand_for_one_line_at_least(self):
        self.assert_fails_with(console("$ stepcast count 2\n1\n...\n2"), "...")

    def test_lines_after_three_dots_must_match(self):
        self.assert_fails_with(console("$ stepcast count 9\n1\n...\n8"), "...")

    def test_blocks_of_a_page_share_a_directory(self):
        self.assert_passes(console("$ echo a > x") + console("$ cat x\na"),
                           "2 passed, 0 failed, 0 skipped")

    def test_a_page_brings_its_files(self):
        self.assert_passes("<!-- file in/x.toml -->\n```toml\na = 1\n```\n\n"
                           + console("$ stepcast show in/x.toml\na = 1"))

    def test_hidden_commands_run_before_the_block(self):
        self.assert_passes("<!-- hidden: stepcast count 1 > x -->\n"
                           + console("$ cat x\n1"))

    def test_a_checkout_calls_the_program_by_its_path(self):
        self.assert_passes(console("$ ./stepcast count 1 | cat\n1"))

    def test_long_commands_go_on_in_the_next_line(self):
        self.assert_passes(console("$ stepcast \\\n    count 1\n1"))

    def test_blocks_in_lists_are_indented(self):
        self.assert_passes("1. x\n\n   ```console\n   $ stepcast count 1\n"
                           "   1\n   ```\n")

    def test_an_error_is_shown_and_ends_with_its_status(self):
        self.assert_passes(console("$ stepcast fail x\nstepcast: no x"))

    def test_another_status_must_be_said(self):
        block = console("$ stepcast check\ntoo slow")
        self.assert_fails_with(block, "exit status 1; expected 0")
        self.assert_passes("<!-- status 1 -->\n" + block)

    def test_what_a_block_needs_keeps_it_from_running(self):
        status, output = self.run_page("<!-- needs: gpu -->\n"
                                       + console("$ nvidia-smi"))
        self.assertEqual(status, 0, output)
        self.assertIn("page.md:2: needs gpu: a GPU\n0 passed, 0 failed, "
                      "1 skipped", output)

    def test_unknown_needs_are_errors(self):
        self.assert_fails_with("<!-- needs: magic -->\n" + console("$ true"),
                               "needs magic; expected one of shared")

    def test_commands_outside_console_blocks_are_errors(self):
        self.assert_fails_with("```\n$ stepcast count 1\n```\n",
                               "expected ```console")

    def test_a_comment_must_stand_before_its_block(self):
        self.assert_fails_with("<!-- needs: gpu -->\ntext\n" + console("$ true"),
                               "followed by text")

    def test_update_puts_in_what_is_printed(self):
        self.assert_updates("a\n" + console("$ stepcast count 2\n5") + "b\n",
                            "a\n" + console("$ stepcast count 2\n1\n2") + "b\n")

    def test_update_keeps_three_dots(self):
        self.assert_updates(
            console("$ stepcast list 25\n...\nfirst 24 ms\n...\nend"),
            console("$ stepcast list 25\n...\nfirst 25 ms\n...\nend"))

    def test_update_leaves_alone_what_is_not_run(self):
        page = "<!-- needs: gpu -->\n" + console("$ nvidia-smi\nold")
        self.assert_updates(page, page)


if __name__ == "__main__":
    unittest.main()
