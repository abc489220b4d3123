#!/usr/bin/env python3
"""Checks docs/architecture.md: its paths, modules and calls are there.

usage: check_architecture.py <source root>

Paths in backticks exist, every module is in the picture and in the table, and
the numbered list of calls names functions that their files contain, in at most
25 steps. Also counts sources: files without tests, headers that serve one
file, and files in a folder.
"""
import collections
import pathlib
import re
import sys

MOST_CALLS = 25
MOST_FILES = 610
MOST_SINGLE_HEADERS = 40
MOST_IN_FOLDER = 40
CALL = re.compile(r"^(\d+)\. `(\w+)` in `([\w/.]+)`", re.M)
PATH = re.compile(r"`((?:[a-z_0-9]+/)+[a-z_0-9]*(?:\.[a-z]+)?)`")
TOP = {"baselines", "collect", "data", "docs", "src", "tests", "tools"}


def check_page(root, complain):
    text = (root / "docs/architecture.md").read_text(encoding="utf-8")
    page = "docs/architecture.md"
    for path in sorted(set(PATH.findall(text))):
        first = path.partition("/")[0]
        place = root / path if first in TOP else root / "src" / path
        is_part = first not in TOP and not (root / "src" / first).exists()
        if not is_part and not place.exists():
            complain(f"{page}: {path} does not exist")
    picture = text.split("```")[1]
    modules = re.findall(r"add_subdirectory\((\w+)\)",
                         (root / "src/CMakeLists.txt").read_text())
    for module in modules:
        if not re.search(rf"\b{module}\b", picture):
            complain(f"{page}: the picture lacks the module {module}")
        if f"| `{module}` |" not in text:
            complain(f"{page}: the table lacks the module {module}")
    calls = CALL.findall(text)
    if not calls or len(calls) > MOST_CALLS:
        complain(f"{page}: {len(calls)} calls; expected 1 to {MOST_CALLS}")
    for number, function, path in calls:
        file = root / path
        if not file.exists() or not re.search(
                rf"\b{function}\(", file.read_text(encoding="utf-8")):
            complain(f"{page}: call {number}: {path} has no {function}")


def is_test(path):
    return path.stem.endswith(("_test", "_testing"))


def check_tree(root, complain):
    """Prints the counts of sources and complains where they are too large."""
    files = [path for top in ("src", "tests") for path in
             (root / top).rglob("*") if path.suffix in (".cc", ".h")]
    product = [path for path in files
               if path.is_relative_to(root / "src") and not is_test(path)]
    users = collections.defaultdict(set)
    for path in files:
        if path.is_relative_to(root / "tests") or is_test(path):
            continue
        for header in re.findall(r'^#include "([^"]+)"',
                                 path.read_text(encoding="utf-8"), re.M):
            users[header].add(path)
    single = 0
    for path in product:
        if path.suffix == ".h":
            own = path.with_suffix(".cc")
            name = str(path.relative_to(root / "src"))
            single += len(users[name] - {own}) == 1
    flat = collections.Counter(
        path.parent for path in (root / "src").rglob("*") if path.is_file())
    folder, most = flat.most_common(1)[0]
    for what, count, limit in (
            ("source files without tests", len(product), MOST_FILES),
            ("headers with a single user", single, MOST_SINGLE_HEADERS),
            (f"files in {folder.relative_to(root)}", most, MOST_IN_FOLDER)):
        print(f"{count} {what} (at most {limit})")
        if count > limit:
            complain(f"src: {count} {what}; expected at most {limit}")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    complaints = []
    root = pathlib.Path(sys.argv[1])
    check_page(root, complaints.append)
    check_tree(root, complaints.append)
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
