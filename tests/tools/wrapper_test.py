#!/usr/bin/env python3
"""Tests the ./stepcast wrapper in a scratch tree with a one-file program."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534

CMAKE_LISTS = """cmake_minimum_required(VERSION 3.25)
project(toy LANGUAGES CXX)
option(STEPCAST_BENCHMARKS "as in the real project" OFF)
add_subdirectory(src/cli)
"""
MAIN = r"""
#include <cstdio>
int main(int argc, char** argv) {
  std::printf("TEXT");
  for (int i = 1; i < argc; ++i) std::printf("|%s", argv[i]);
  for (int c = std::getchar(); c != EOF; c = std::getchar()) std::putchar(c);
  return argc > 1 ? 5 : 0;
}
"""


class WrapperTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.scratch.chmod(0o755)
        self.tree = self.scratch / "a tree"
        for folder in ("src/cli", "tools", "data", "cmake"):
            (self.tree / folder).mkdir(parents=True)
        for name in ("stepcast", "tools/deps.sh", "tools/build.sh",
                     "CMakePresets.json"):
            shutil.copy(ROOT / name, self.tree / name)
        (self.tree / "CMakeLists.txt").write_text(CMAKE_LISTS)
        (self.tree / "src/cli/CMakeLists.txt").write_text(
            "add_executable(stepcast main.cc)\n")
        self.write_program("first")
        self.fakes = self.scratch / "fakes"
        self.fakes.mkdir()
        self.environment = dict(os.environ, STEPCAST_SKIP_DEPS="1")

    def write_program(self, text):
        (self.tree / "src/cli/main.cc").write_text(MAIN.replace("TEXT", text))

    def fake(self, name, body):
        """Puts a shell script before the real command of that name."""
        path = self.fakes / name
        path.write_text("#!/bin/bash\n" + body)
        path.chmod(0o755)

    def use_fakes(self):
        """Lets the wrapper look for packages, with the fakes in front."""
        del self.environment["STEPCAST_SKIP_DEPS"]
        self.environment["PATH"] = f"{self.fakes}:{os.environ['PATH']}"

    def become_nobody(self):
        """Options of run_wrapper that make sure it does not run as root."""
        if os.geteuid() != 0:
            return {}
        for path in (self.tree, *self.tree.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        self.environment.update(HOME=str(self.tree), CCACHE_DISABLE="1")
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []}

    def run_wrapper(self, *arguments, program=None, **options):
        return subprocess.run([program or self.tree / "stepcast", *arguments],
                              env=self.environment, capture_output=True,
                              text=True, check=False,
                              **{"input": "", **options})

    def test_builds_once_and_stdout_is_the_programs_own(self):
        first = self.run_wrapper("a b", "$c", cwd="/", input="+in")
        self.assertEqual(first.stdout, "first|a b|$c+in", first.stderr)
        self.assertEqual(first.returncode, 5)
        self.assertIn("building", first.stderr)
        self.assertIn("[2/2]", first.stderr)
        link = self.scratch / "link"
        link.symlink_to(self.tree / "stepcast")
        start = time.monotonic()
        second = self.run_wrapper(program=link)
        self.assertLess(time.monotonic() - start, 1.0)
        self.assertEqual((second.stdout, second.stderr), ("first", ""))

    def test_rebuilds_after_a_change_and_reports_a_broken_build(self):
        self.assertEqual(self.run_wrapper().stdout, "first")
        self.write_program("second")
        self.assertEqual(self.run_wrapper().stdout, "second")
        self.write_program("third\"; not C++")
        for _ in range(2):
            broken = self.run_wrapper()
            self.assertEqual((broken.stdout, broken.returncode), ("", 2))
            self.assertIn("main.cc", broken.stderr)
            self.assertIn("build failed", broken.stderr)
        self.write_program("fourth")
        self.assertEqual(self.run_wrapper().stdout, "fourth")
        (self.tree / "build/release/src/cli/stepcast").unlink()
        self.assertEqual(self.run_wrapper().stdout, "fourth")

    def test_a_copied_tree_does_not_use_the_old_build(self):
        self.assertEqual(self.run_wrapper().stdout, "first")
        copy = self.scratch / "copy"
        shutil.copytree(self.tree, copy)
        main = copy / "src/cli/main.cc"
        main.write_text(MAIN.replace("TEXT", "copied"))
        done = self.run_wrapper(program=copy / "stepcast")
        self.assertEqual(done.stdout, "copied", done.stderr)
        self.assertEqual(self.run_wrapper().stdout, "first")

    def test_concurrent_first_runs_build_once(self):
        runs = [subprocess.Popen([self.tree / "stepcast"],
                                 env=self.environment, text=True,
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE) for _ in range(3)]
        results = [run.communicate() for run in runs]
        self.assertEqual([out for out, _ in results], ["first"] * 3, results)
        builds = [err for _, err in results if "building" in err]
        self.assertEqual(len(builds), 1, results)

    def test_the_running_program_does_not_hold_the_lock(self):
        self.assertEqual(self.run_wrapper().stdout, "first")
        self.write_program("second")
        with subprocess.Popen([self.tree / "stepcast"], text=True,
                              env=self.environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as waiting:
            while (self.tree / "build/release.stamp.new").exists() or \
                    not self.is_fresh():
                time.sleep(0.05)
            self.write_program("third")
            self.assertEqual(self.run_wrapper(timeout=60).stdout, "third")
            waiting.communicate("")

    def is_fresh(self):
        stamp = self.tree / "build/release.stamp"
        source = self.tree / "src/cli/main.cc"
        return stamp.stat().st_mtime_ns > source.stat().st_mtime_ns

    def test_missing_packages_are_installed_by_root(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to play root")
        self.fake("dpkg-query", "printf 'cmake=installed g++=installed "
                  "libfmt-dev=config-files '; exit 1")
        self.fake("apt-get", f'echo "$*" >> "{self.scratch}/apt.log"; '
                  'echo noise; cat')
        self.use_fakes()
        done = self.run_wrapper("x", input="kept")
        self.assertEqual(done.stdout, "first|xkept", done.stderr)
        calls = (self.scratch / "apt.log").read_text().splitlines()
        self.assertTrue(calls[0].endswith(" update"), calls)
        self.assertIn(" install -y --no-install-recommends ", calls[1])
        self.assertIn(" libfmt-dev", calls[1])
        self.assertNotIn(" cmake", calls[1])

    def test_a_failed_install_is_exit_status_2(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to play root")
        self.fake("dpkg-query", "exit 1")
        self.fake("apt-get", "exit 100")
        self.use_fakes()
        done = self.run_wrapper()
        self.assertEqual((done.stdout, done.returncode), ("", 2))
        self.assertIn("could not install", done.stderr)

    def test_without_root_or_sudo_the_missing_packages_are_named(self):
        self.fake("dpkg-query", "for p in \"$@\"; do [ $p = zlib1g-dev ] || "
                  "printf '%s=installed ' $p; done; exit 1")
        self.fake("sudo", "exit 1")
        self.use_fakes()
        done = self.run_wrapper(**self.become_nobody())
        self.assertEqual((done.stdout, done.returncode), ("", 2))
        self.assertIn("missing Debian packages: zlib1g-dev\n", done.stderr)
        self.assertIn("apt-get install -y --no-install-recommends zlib1g-dev\n",
                      done.stderr)

    def test_sudo_is_used_by_others(self):
        self.fake("dpkg-query", "exit 1")
        self.fake("sudo", f'echo "$*" >> "{self.scratch}/log/sudo"')
        (self.scratch / "log").mkdir()
        (self.scratch / "log").chmod(0o777)
        self.use_fakes()
        done = self.run_wrapper(**self.become_nobody())
        self.assertEqual(done.stdout, "first", done.stderr)
        calls = (self.scratch / "log/sudo").read_text().splitlines()
        self.assertIn("apt-get", calls[-1])
        self.assertIn(" install -y", calls[-1])


if __name__ == "__main__":
    unittest.main()
