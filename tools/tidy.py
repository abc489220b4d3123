#!/usr/bin/env python3
"""Runs clang-tidy over first-party sources, one per core at a time.

usage: tidy.py [--changed] BUILD_DIR

Takes the sources from compile_commands.json in BUILD_DIR. With --changed: those
that differ from HEAD (in a clean tree: from the commit before), or include a
header that does. A source that was found clean is not checked again until it,
a header it includes or the configuration changes; ~/.cache/stepcast remembers.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "tools", "collect")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or
                     pathlib.Path.home() / ".cache") / "stepcast" / "tidy"
CACHE_DAYS = 30
# An eighth of the time, for what readability-identifier-naming reports anyway.
LEFT_OUT = "-bugprone-reserved-identifier"
# In tests the analyzer mostly walks through GoogleTest's macros, and nobody
# waits for them.
LEFT_OUT_OF_TESTS = LEFT_OUT + ",-clang-analyzer-*,-performance-*"
# How many program states the analyzer looks at in one function. Its own limit
# of 225000 makes long functions take most of the time.
ANALYZER_STATES = 10000


def run(command, **options):
    return subprocess.run(command, capture_output=True, check=False, **options)


def first_party(build):
    """Returns {source: its compile command} for sources of ours."""
    entries = json.loads((build / "compile_commands.json").read_text())
    ours = {}
    for entry in entries:
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if any(path.is_relative_to(ROOT / folder) for folder in FOLDERS):
            ours[path] = entry
    return ours


def changed_files():
    """Paths, relative to the root, that differ from HEAD or the last commit."""
    git = ["git", "-C", str(ROOT)]
    clean = run([*git, "diff", "--quiet", "HEAD"]).returncode == 0
    base = "HEAD~1" if clean else "HEAD"
    names = run([*git, "diff", "--name-only", base], text=True).stdout
    names += run([*git, "ls-files", "--others", "--exclude-standard"],
                 text=True).stdout
    return set(names.splitlines())


def only_changed(sources):
    changed = changed_files()
    headers = {name.removeprefix("src/") for name in changed
               if name.endswith(".h")}
    def is_affected(path):
        included = re.findall(r'^#include "(.*)"', path.read_text(), re.M)
        return (str(path.relative_to(ROOT)) in changed or
                not headers.isdisjoint(included))
    return {path: entry for path, entry in sources.items()
            if is_affected(path)}


def tidy_command(path, build):
    is_test = (path.name.endswith("_test.cc") or
               path.is_relative_to(ROOT / "tests"))
    analyzer = ("-Xclang", "-analyzer-config",
                "-Xclang", f"max-nodes={ANALYZER_STATES}")
    return ["clang-tidy", "--quiet", "-p", str(build),
            f"--header-filter=^{re.escape(str(ROOT))}/({'|'.join(FOLDERS)})/",
            f"--checks={LEFT_OUT_OF_TESTS if is_test else LEFT_OUT}",
            *(f"--extra-arg={argument}" for argument in analyzer),
            str(path)]


def cache_key(entry, command, salt):
    """A hash of all that decides the outcome; None if there is no telling."""
    words = shlex.split(entry["command"])
    if words[0].endswith("ccache"):
        words = words[1:]
    words[words.index("-o"):words.index("-o") + 2] = []
    words.remove("-c")
    # Comments stay (-C): a NOLINT is one.
    preprocessed = run([*words, "-E", "-C"], cwd=entry["directory"])
    if preprocessed.returncode != 0:
        return None
    parts = [salt, repr(command).encode(), preprocessed.stdout]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def check(path, entry, build, salt):
    """Returns what clang-tidy has to say about a source; "" if nothing."""
    command = tidy_command(path, build)
    key = cache_key(entry, command, salt)
    stamp = CACHE / key if key else None
    if stamp and stamp.exists():
        stamp.touch()
        return ""
    done = run(command, text=True)
    if done.returncode != 0:
        return done.stdout or done.stderr or f"{path}: clang-tidy failed\n"
    if stamp:
        stamp.touch()
    return ""


def prune_cache():
    oldest = time.time() - CACHE_DAYS * 24 * 3600
    for stamp in CACHE.iterdir():
        if stamp.stat().st_mtime < oldest:
            stamp.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--changed", action="store_true")
    options = parser.parse_args()
    build = options.build.resolve()
    sources = first_party(build)
    if options.changed and shutil.which("git"):
        sources = only_changed(sources)
    CACHE.mkdir(parents=True, exist_ok=True)
    prune_cache()
    salt = (ROOT / ".clang-tidy").read_bytes() + run(
        ["clang-tidy", "--version"]).stdout
    print(f"clang-tidy on {len(sources)} files", flush=True)
    # Long ones first, so that no core is left alone with one at the end.
    order = sorted(sources, key=lambda path: (-path.stat().st_size, path))
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(check, path, sources[path], build, salt)
                for path in order]
        for job in concurrent.futures.as_completed(jobs):
            bad += bool(job.result())
            print(job.result(), end="", flush=True)
    if bad:
        print(f"{bad} of {len(sources)} files have findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
