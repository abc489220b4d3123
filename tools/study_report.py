#!/usr/bin/env python3
"""Runs the commands that the pages of the studies show, and puts in what they
print now.

usage: study_report.py BUILD_DIR

Rewrites the blocks of docs/studies/*.md that begin with `$ stepcast`; the text
around them is for people to keep true. Says which pages changed.
"""
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"```console\n\$ stepcast ([^\n]*)\n.*?```\n", re.S)


def refreshed(page, binary):
    """The page with the output of its commands."""
    def run(match):
        done = subprocess.run([binary, *shlex.split(match[1])], check=True,
                              capture_output=True, text=True)
        lines = [line.rstrip() for line in done.stdout.splitlines()]
        return "\n".join(["```console", f"$ stepcast {match[1]}", *lines,
                          "```", ""])
    return BLOCK.sub(run, page)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    binary = pathlib.Path(sys.argv[1]).resolve() / "src/cli/stepcast"
    for path in sorted((ROOT / "docs/studies").glob("*.md")):
        before = path.read_text(encoding="utf-8")
        after = refreshed(before, binary)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"{path.relative_to(ROOT)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
