#!/usr/bin/env python3
"""Tests tools/test_suite.py on a build directory with made-up programs."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "test_suite.py"

GTEST = """echo '[==========] 3 tests from 1 test suite ran. (0 ms total)'
echo '[  PASSED  ] {passed} tests.'"""
UNITTEST = "echo 'Ran 4 tests in 0.1s'; echo; echo 'OK (skipped=1)'"
GOLDENS = "echo '5 passed, 0 failed'"
PAGES = "echo '2 passed, 0 failed, 3 skipped'"


class TestSuiteTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.build = pathlib.Path(scratch.name).resolve()
        self.entries = []

    def add(self, name, body, label="unit"):
        """Adds an entry that runs a shell script."""
        path = self.build / f"{name}.sh"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        self.entries.append(f"add_test({name} {path})\n"
                            f"set_tests_properties({name} PROPERTIES "
                            f"LABELS {label} SKIP_RETURN_CODE 77)\n")
        (self.build / "CTestTestfile.cmake").write_text("".join(self.entries))
        return path

    def run_suite(self, *options):
        return subprocess.run(
            [sys.executable, TOOL, *options, self.build],
            capture_output=True, text=True, check=False)

    def counts(self, *options):
        return self.run_suite(*options).stdout.splitlines()[-1]

    def test_cases_of_all_kinds_of_programs_are_added_up(self):
        self.add("gtest", GTEST.format(passed=3))
        self.add("unittest", UNITTEST)
        self.add("goldens", GOLDENS)
        self.add("pages", PAGES)
        self.add("silent", "true")
        self.add("absent", "exit 77")
        # 3 + (4 - 1) + 5 + 2 + 1 passed; one of unittest, three of pages and
        # `absent` skipped.
        self.assertEqual(self.counts(), "14 0 5")

    def test_a_failed_case_is_named_and_a_crash_is_one_failure(self):
        self.add("gtest", "echo '[  FAILED  ] Some.Case (1 ms)'\n" +
                 GTEST.format(passed=2) + "\nexit 1")
        self.add("crash", "kill -SEGV $$")
        done = self.run_suite()
        self.assertEqual(done.stdout.splitlines()[-1], "2 2 0")
        self.assertIn("failed: gtest: Some.Case\n", done.stdout)
        self.assertIn("failed: crash\n", done.stdout)

    def test_affected_are_those_that_changed_or_failed_last_time(self):
        same = self.add("same", "true")
        changed = self.add("changed", "true")
        self.add("failing", "false")
        self.assertEqual(self.counts("--affected"), "2 1 0")
        self.assertEqual(self.counts("--affected"), "0 1 0")
        later = same.stat().st_mtime_ns + 3600 * 10**9
        os.utime(changed, ns=(later, later))
        self.assertEqual(self.counts("--affected"), "1 1 0")

    def test_a_build_directory_without_tests_is_exit_status_2(self):
        self.assertEqual(self.run_suite().returncode, 2)


if __name__ == "__main__":
    unittest.main()
