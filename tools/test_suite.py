#!/usr/bin/env python3
"""Runs ctest entries and counts the cases in them.

usage: test_suite.py [--affected] [--slowest N] BUILD_DIR [CTEST OPTION ...]

An entry is a program with many cases, whose last lines say how many passed. An
entry that says nothing of cases counts as one, and so does a program that
crashed. With --affected, entries that passed before and whose program, scripts
and inputs have not changed since are left out.

Prints what failed, the slowest entries and, as the last line,
"PASSED FAILED SKIPPED". Exit status 2 if there was nothing to run.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A test program that hangs is a failure after this long.
TIMEOUT_S = 900
# What tests read without naming it in their command.
COMMON_INPUTS = (ROOT / "tests" / "data",)

GTEST_PASSED = re.compile(r"^\[  PASSED  \] (\d+) test", re.M)
GTEST_SKIPPED = re.compile(r"^\[  SKIPPED \] (\d+) test", re.M)
GTEST_FAILED = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", re.M)
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in", re.M)
UNITTEST_FAILED = re.compile(r"^(?:FAIL|ERROR): (.*)", re.M)
UNITTEST_SKIPPED = re.compile(r"^(?:OK|FAILED) \(.*skipped=(\d+)", re.M)
PLAIN_COUNTS = re.compile(r"^(\d+) passed, (\d+) failed", re.M)
PLAIN_SKIPPED = re.compile(r"^\d+ passed, \d+ failed, (\d+) skipped", re.M)
PLAIN_FAILED = re.compile(r"^failed: (.*)", re.M)


def number(pattern, text):
    found = pattern.search(text)
    return int(found[1]) if found else 0


def count_cases(output):
    """(passed, names of failed, skipped) as a program's output has it; None if
    it does not say."""
    if GTEST_PASSED.search(output):
        failed = list(dict.fromkeys(GTEST_FAILED.findall(output)))
        return (number(GTEST_PASSED, output), failed,
                number(GTEST_SKIPPED, output))
    if UNITTEST_RAN.search(output):
        failed = UNITTEST_FAILED.findall(output)
        skipped = number(UNITTEST_SKIPPED, output)
        ran = number(UNITTEST_RAN, output)
        return ran - len(failed) - skipped, failed, skipped
    if PLAIN_COUNTS.search(output):
        return (number(PLAIN_COUNTS, output), PLAIN_FAILED.findall(output),
                number(PLAIN_SKIPPED, output))
    return None


def count_entry(entry):
    """(passed, names of failed, skipped) of one entry of ctest's results."""
    name, status = entry.get("name"), entry.get("status")
    cases = count_cases(entry.findtext("system-out") or "")
    if status == "run":
        return cases or (1, [], 0)
    if status == "notrun" and entry.find("skipped") is not None:
        return 0, [], 1
    passed, failed, skipped = cases or (0, [], 0)
    return passed, [f"{name}: {case}" for case in failed] or [name], skipped


def newest(path):
    """When a file, or anything in a folder, last changed."""
    if not path.is_dir():
        return path.stat().st_mtime_ns
    return max((entry.stat().st_mtime_ns for entry in path.rglob("*")
                if "__pycache__" not in entry.parts),
               default=path.stat().st_mtime_ns)


def stamp_of(build, name):
    return build / "passed" / name


def is_affected(entry, build):
    """True if an entry did not pass yet as it is now."""
    stamp = stamp_of(build, entry["name"])
    if not stamp.exists():
        return True
    words = (pathlib.Path(word) for word in entry.get("command", []))
    inputs = [word for word in words if word.is_absolute() and word.exists()]
    return any(newest(path) > stamp.stat().st_mtime_ns
               for path in (*inputs, *COMMON_INPUTS) if path.exists())


def affected_names(build, options):
    """The names of affected entries, and how many others there are."""
    listed = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1", *options],
        check=True, capture_output=True, text=True)
    entries = json.loads(listed.stdout)["tests"]
    names = [entry["name"] for entry in entries if is_affected(entry, build)]
    return names, len(entries) - len(names)


def run_ctest(build, options):
    """Runs ctest; returns the entries of its results and what it printed."""
    results = build / "results.xml"
    results.unlink(missing_ok=True)
    done = subprocess.run(
        ["ctest", "--test-dir", build, "--output-on-failure",
         "-j", str(os.cpu_count()), "--timeout", str(TIMEOUT_S),
         "--output-junit", results, "--test-output-size-passed", "1000000",
         "--test-output-size-failed", "10000000", *options],
        check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="backslashreplace")
    if not results.exists():
        print(done.stdout)
        return [], done.stdout
    entries = list(xml.etree.ElementTree.parse(results).iter("testcase"))
    if not entries:
        print(f"{build}: no tests there")
    return entries, done.stdout


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--affected", action="store_true")
    parser.add_argument("--slowest", type=int, default=3, metavar="N")
    parser.add_argument("build", type=pathlib.Path)
    options, ctest_options = parser.parse_known_args()
    build = options.build.resolve()
    if options.affected:
        names, others = affected_names(build, ctest_options)
        if others:
            print(f"{others} entries passed before and are not affected")
        if not names:
            print("0 0 0")
            return 0
        pattern = "|".join(re.escape(name) for name in names)
        ctest_options += ["-R", f"^({pattern})$"]
    (build / "passed").mkdir(exist_ok=True)
    entries, printed = run_ctest(build, ctest_options)
    if not entries:
        return 2
    passed, failed, skipped = 0, [], 0
    for entry in entries:
        counts = count_entry(entry)
        passed += counts[0]
        failed += counts[1]
        skipped += counts[2]
        stamp = stamp_of(build, entry.get("name"))
        if counts[1]:
            stamp.unlink(missing_ok=True)
        else:
            stamp.touch()
    if failed:
        print(printed)
    for name in failed:
        print(f"failed: {name}")
    entries.sort(key=lambda entry: -float(entry.get("time")))
    print("slowest:", ", ".join(
        f"{entry.get('name')} {float(entry.get('time')):.1f} s"
        for entry in entries[:options.slowest]))
    print(passed, len(failed), skipped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
