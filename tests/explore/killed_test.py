#!/usr/bin/env python3
"""Kills studies in the middle: they go on, and lose and repeat nothing.

usage: killed_test.py --binary STEPCAST
"""
import os
import signal
import subprocess
import time

import study_run


class KilledTest(study_run.StudyTest):
    def kill_in_the_middle(self, out, number, at_least):
        """Starts the study; once so many rows are kept, ends it at once."""
        with subprocess.Popen(self.command(out, "--threads", "2"),
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + study_run.TIMEOUT_S
            while (len(self.rows_kept(out)) < at_least
                   and process.poll() is None
                   and time.monotonic() < deadline):
                time.sleep(0.002)
            os.kill(process.pid, number)
            process.wait()
            return process.returncode

    def test_a_killed_study_goes_on_and_gives_the_same_files(self):
        out = self.folder / "killed"
        kept = 0
        for share in (1, 2, 3):
            status = self.kill_in_the_middle(out, signal.SIGKILL,
                                             share * study_run.ROWS // 8)
            self.assertEqual(status, -signal.SIGKILL, "it was done too soon")
            self.assertFalse((out / "rows.csv").exists())
            now = len(self.rows_kept(out))
            self.assertGreater(now, kept)
            kept = now
        self.run_study(out)
        self.assertEqual(self.files(out), self.whole)
        rows = self.rows_kept(out)
        self.assertEqual(len(rows), study_run.ROWS)
        self.assertEqual(set(rows.values()), {1}, "rows were predicted twice")

    def test_a_line_that_was_cut_off_is_predicted_again(self):
        out = self.folder / "cut"
        self.kill_in_the_middle(out, signal.SIGKILL, 100)
        journal = next(out.glob("journal-*.txt"))
        text = journal.read_text()
        journal.write_text(text[:len(text) * 2 // 3])
        self.run_study(out)
        self.assertEqual(self.files(out), self.whole)

    def test_an_interrupted_study_says_how_to_go_on(self):
        out = self.folder / "interrupted"
        with subprocess.Popen(self.command(out, "--threads", "1"),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            while len(self.rows_kept(out)) < 20 and process.poll() is None:
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            said, complaint = process.communicate(timeout=study_run.TIMEOUT_S)
        self.assertEqual(process.returncode, 2)
        self.assertEqual(said, "")
        self.assertIn("run again to go on", complaint)
        self.run_study(out)
        self.assertEqual(self.files(out), self.whole)

    def test_another_study_in_the_same_directory_keeps_to_itself(self):
        out = self.folder / "shared"
        self.kill_in_the_middle(out, signal.SIGKILL, 50)
        other = self.folder / "other.toml"
        other.write_text(study_run.STUDY.replace("dlrm_mlperf",
                                                 "dlrm_default"))
        subprocess.run([study_run.options.binary, "explore", str(other), "-o",
                        str(out)], check=True, capture_output=True,
                       timeout=study_run.TIMEOUT_S)
        self.run_study(out)
        self.assertEqual(self.files(out), self.whole)


if __name__ == "__main__":
    study_run.main()
