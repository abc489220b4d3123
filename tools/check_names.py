#!/usr/bin/env python3
"""Names in anonymous namespaces are defined once per module.

Several sources of a module are compiled at once (cmake/compile.cmake), so two
files that define the same name clash. Which files share a batch depends on the
size of the batches: this check finds such names whatever the batches. Functions may
share a name if they differ in their parameters. A constant inside a function
may not have the name of one in another file either, which it would shadow.

usage: check_names.py <folder of modules>
"""
import pathlib
import re
import sys

# At the start of a line: a type, a constant or variable, a function.
TYPE = re.compile(r"(?:struct|class|enum class|union) (\w+)[^;]*\{")
ALIAS = re.compile(r"using (\w+) =")
VALUE = re.compile(r"(?:inline )?(?:static )?constexpr [^=({]*?\b(\w+)\s*(?:\[[^]]*\])?\s*[={(]")
LOCAL = re.compile(r" +constexpr [^=({]*?\b(\w+)\s*(?:\[[^]]*\])?\s*[={(]")
FUNCTION = re.compile(r"[A-Za-z_][\w:<>,&*\s\[\]]*?[\s&*>](\w+)\(")
NOT_NAMES = {"if", "for", "while", "switch", "return", "TEST", "TEST_P", "TEST_F"}


def parameter_types(text):
    """The types of "(const A& a, B b = 1) {...", as "(const A&, B)"."""
    depth = 0
    parts = [""]
    for char in text:
        depth += char in "(<[{"
        depth -= char in ")>]}"
        if depth == 0:
            break
        if char == "," and depth == 1:
            parts.append("")
        elif not (char == "(" and depth == 1):
            parts[-1] += char
    types = []
    for part in parts:
        part = part.split("=")[0].strip()
        types.append(re.sub(r"(?<=[&*>\w]) +\w+$", "", part) if " " in part else part)
    return "(" + ", ".join(types) + ")"


def anonymous_names(path):
    """The names that a file defines in anonymous namespaces."""
    names = {}
    inside = False
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if line == "namespace {":
            inside = True
        elif line.startswith("}  // namespace"):
            inside = False
        if not inside or not line or not (line[0].isalpha() or line[0] == "_"):
            continue
        # A declaration may go on in the next line.
        text = line + " " + (lines[number].strip() if number < len(lines) else "")
        for pattern in (TYPE, ALIAS, VALUE, FUNCTION):
            match = pattern.match(text)
            if match and match.group(1) not in NOT_NAMES:
                name = match.group(1)
                if pattern is FUNCTION:
                    rest = " ".join(part.strip() for part in lines[number - 1 : number + 8])
                    name += parameter_types(rest[rest.index(name + "(") + len(name):])
                names.setdefault(name, number)
                break
    return names


def shadowing(module, constants):
    """Complaints about constants inside functions that shadow another file's."""
    complaints = []
    for path in sorted(module.rglob("*")):
        if path.suffix not in (".cc", ".h") or path.stem.endswith(("_test", "_testing")):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = LOCAL.match(line)
            places = constants.get(match.group(1), []) if match else []
            others = [place for place in places if not place.startswith(f"{path}:")]
            complaints += [f"{path}:{number}: {match.group(1)} shadows that of {other}: expected "
                           "a name that no other file of the module uses" for other in others]
    return complaints


def check_tree(root):
    """Complaints about a folder of modules."""
    complaints = []
    for module in sorted(p for p in root.iterdir() if p.is_dir()):
        users = {False: {}, True: {}}  # Tests are a target of their own.
        for path in sorted(module.rglob("*.cc")):
            names = users[path.stem.endswith(("_test", "_testing"))]
            for name, line in anonymous_names(path).items():
                names.setdefault(name, []).append(f"{path}:{line}")
        for names in users.values():
            complaints += [
                f"{places[0]}: {name} is also defined in {', '.join(places[1:])}: expected a "
                "name that no other file of the module uses"
                for name, places in sorted(names.items()) if len(places) > 1]
        complaints += shadowing(module, users[False])
    return complaints


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_names.py <folder of modules>")
    complaints = check_tree(pathlib.Path(sys.argv[1]))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
