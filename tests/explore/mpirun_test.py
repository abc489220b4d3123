#!/usr/bin/env python3
"""Studies over several processes: the same bytes as one.

usage: mpirun_test.py --binary STEPCAST

The test with mpirun itself is skipped where there is none.
"""
import concurrent.futures
import os
import shutil
import subprocess
import unittest

import study_run

MPIRUN = shutil.which("mpirun")
LAUNCHERS = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
             ("PMI_RANK", "PMI_SIZE"),
             ("SLURM_PROCID", "SLURM_NTASKS"))


class MpirunTest(study_run.StudyTest):
    @unittest.skipIf(MPIRUN is None, "no mpirun")
    def test_two_processes_give_the_same_bytes_as_one(self):
        out = self.folder / "two"
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        done = subprocess.run(
            [MPIRUN, *root, "--oversubscribe", "-n", "2",
             *self.command(out, "--threads", "1")],
            capture_output=True, text=True, timeout=study_run.TIMEOUT_S,
            check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(out), self.whole)
        self.assertEqual(done.stdout, self.run_study(self.folder / "whole"))
        self.assertEqual(len(list(out.glob("journal-*.txt"))), 2)
        rows = self.rows_kept(out)
        self.assertEqual(len(rows), study_run.ROWS)
        self.assertEqual(set(rows.values()), {1}, "rows were predicted twice")

    def test_every_launcher_numbers_its_processes(self):
        for own, count in LAUNCHERS:
            with self.subTest(own):
                out = self.folder / own
                with concurrent.futures.ThreadPoolExecutor() as pool:
                    said = list(pool.map(
                        lambda number, out=out, own=own, count=count:
                        self.run_study(out, "--threads", "1", environment={
                            own: str(number), count: "3"}), range(3)))
                self.assertEqual(self.files(out), self.whole)
                self.assertEqual(said[1:], ["", ""])
                self.assertNotEqual(said[0], "")

    def refuse(self, *words, **environment):
        done = subprocess.run(
            [study_run.options.binary, "explore", str(self.study), *words],
            capture_output=True, text=True, timeout=study_run.TIMEOUT_S,
            check=False, env={**os.environ, **environment})
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_a_process_that_is_gone_is_not_awaited_for_ever(self):
        out = self.folder / "gone"
        complaint = self.refuse("-o", str(out), "--patience", "1",
                              PMI_RANK="0", PMI_SIZE="2")
        self.assertIn("nothing was heard of process 1 of 2 for 1 s", complaint)
        self.assertFalse((out / "rows.csv").exists())
        # What is missing is predicted by whoever runs next.
        self.run_study(out)
        self.assertEqual(self.files(out), self.whole)

    def test_several_processes_need_a_directory(self):
        self.assertIn("2 processes and no --out", self.refuse(
            PMI_RANK="1", PMI_SIZE="2"))

    def test_a_launcher_that_contradicts_itself_is_an_error(self):
        self.assertIn("PMI_RANK is '2' and PMI_SIZE is '2'", self.refuse(
            PMI_RANK="2", PMI_SIZE="2"))


if __name__ == "__main__":
    study_run.main()
