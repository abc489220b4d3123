#!/usr/bin/env python3
"""Checks that each module under src/ includes only what it declares in DEPS.

usage: check_layers.py <source root> <layers.txt>

CMake writes layers.txt when it configures: one line `name:dep,dep` a module, in
the order of src/CMakeLists.txt. A module may depend only on modules above it in
that file, so the order is one-way and there are no cycles.

Modules that run after a scenario was resolved look no names up: they are given
the things that scenario/ found.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]*)"')
SOURCES = {".h", ".cc"}
# Modules that are given things, and what makes things of names.
GIVEN_THINGS = {"engine", "explore", "fleet", "plan", "sim", "timeline", "whatif"}
LOOKUP = re.compile(
    r"\b((?:hw|model)::(?:Find|Load)\w+|cost::(?:Load|FindOwn)Overheads)\(")


def read_layers(path, complain):
    """Returns {module: modules it may include}, itself among them."""
    allowed = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line:
            continue
        name, _, deps = line.partition(":")
        deps = [dep for dep in deps.split(",") if dep]
        for dep in deps:
            if dep not in allowed:
                complain(f"{path}: {name} depends on {dep}, which is not"
                         " declared before it")
        allowed[name] = {name, *deps}
    return allowed


def check_include(module, is_test, target, allowed):
    """Returns what is wrong with `#include "target"`, or None."""
    head, slash, _ = target.partition("/")
    if head == "tests" and slash:
        return None if is_test else "only a _test.cc may include tests/"
    if not slash or head not in allowed:
        return (f'"{target}" is in no module; write ours from src/ as'
                ' "module/file.h" and others as <file.h>')
    if head not in allowed[module]:
        deps = ", ".join(sorted(allowed[module] - {module})) or "nothing"
        return f"{module} may not include {head}; its DEPS are {deps}"
    return None


def check_lookup(path, module, line):
    """Returns what is wrong with a line that looks a name up, or None."""
    match = LOOKUP.search(line)
    is_test = path.stem.endswith(("_test", "_testing"))
    if not match or module not in GIVEN_THINGS or is_test:
        return None
    return f"{module} looks a name up with {match.group(1)}; scenario/ does"


def check_file(path, module, allowed, complain):
    is_test = path.name.endswith("_test.cc")
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        match = INCLUDE.match(line)
        wrong = (check_include(module, is_test, match.group(1), allowed)
                 if match else check_lookup(path, module, line))
        if wrong:
            complain(f"{path}:{number}: {wrong}")


def check_tree(source_root, layers_path):
    """Returns the complaints about the tree, in order."""
    complaints = []
    allowed = read_layers(layers_path, complaints.append)
    for folder in sorted((source_root / "src").iterdir()):
        files = [path for path in sorted(folder.rglob("*"))
                 if path.suffix in SOURCES]
        if not files:
            continue
        if folder.name not in allowed:
            complaints.append(f"{folder}: not declared with stepcast_module()")
            continue
        for path in files:
            check_file(path, folder.name, allowed, complaints.append)
    return complaints


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    complaints = check_tree(pathlib.Path(sys.argv[1]),
                            pathlib.Path(sys.argv[2]))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
