#!/usr/bin/env python3
"""Finds retired words in docs, comments, messages and expected output.

The list with what to write instead is tools/retired_words.toml. Checked are

- Markdown: all prose; `code` and names of files only as identifiers;
- C++, CUDA, Python, shell, CMake: comments and text in quotes that has a blank
  (one word in quotes is a key or a keyword, which files and scripts rely on);
- TOML: comments and values, not keys;
- goldens (tests/golden/**/*.txt): sentences and expected output, without JSON keys;
- identifiers of C++ and Python, by their parts; long ones, which name tests, as prose.

docs/glossary.md has at most 90 terms, none of them twice, and other pages link
only to headings that it has.

usage: check_words.py <root> [--count] [folder or file...]
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tomllib

MOST_TERMS = 90
PROSE = {".md"}
CODE = {".cc", ".h", ".cu", ".cuh", ".proto", ".js", ".css"}
HASH = {".py", ".sh", ".cmake", ".toml", ""}
# Texts that quote others or hold data: third-party code, fuzz inputs, recorded traces.
SKIPPED = re.compile(
    r"(^|/)(third_party|corpus|testdata|__pycache__|LICENSE)(/|$)|retired_words\.toml$|"
    r"check_words(_test)?\.py$")
GAP = "\0"  # Stands where something is not prose, so that no pattern reaches across.


class Word:
    """A row of the table, compiled."""

    def __init__(self, row, rate):
        self.word = row["word"]
        self.write = row["write"]
        self.found = row["found"]
        self.fine = row["fine"]
        self.pattern = compile_prose(row["pattern"], rate)
        self.allow = [compile_prose(text, rate) for text in row.get("allow", [])]

    def places(self, text):
        """The matches in a text that no allowed phrase covers."""
        allowed = None
        for match in self.pattern.finditer(text):
            if allowed is None:
                allowed = [m.span() for allow in self.allow for m in allow.finditer(text)]
            if not any(a < match.end() and match.start() < b for a, b in allowed):
                yield match


def compile_prose(pattern, rate):
    pattern = pattern.replace("{rate}", "|".join(rate))
    # A blank of the table is any white space of a text, unless it is looked behind for.
    parts = re.split(r"(\(\?<![^)]*\))", pattern)
    parts = [p if p.startswith("(?<!") else p.replace(" ", r"\s+") for p in parts]
    return re.compile(rf"(?<![\w-]){''.join(parts)}(?![\w-])", re.IGNORECASE)


def load_table(path=pathlib.Path(__file__).with_name("retired_words.toml")):
    """The words and the identifiers of the table."""
    table = tomllib.loads(path.read_text())
    words = [Word(row, table["rate"]) for row in table["word"]]
    return words, table["identifier"]


def blank(text, keep=""):
    """As many gaps as the text has characters; lines stay lines."""
    return "".join(c if c == "\n" or c in keep else GAP for c in text)


def spaces(text):
    return re.sub(r"[^\n]", " ", text)


# A comment, a raw string, a string, a character.
CPP = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|'
                 r"'(?:\\.|[^'\\\n])'", re.DOTALL)
SCRIPT = re.compile(r'#[^\n]*|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
JSON_KEY = re.compile(r'"[\w.]+":|(?<=\{)\w+(?==)')


def quoted_prose(text):
    """A string literal as prose: gaps if it is one word, a key or a pattern."""
    inner = text.strip("'\"")
    if " " not in inner or inner.startswith(("--", "^")):
        return blank(text)
    return '"' + JSON_KEY.sub(lambda m: blank(m.group()), text[1:-1]).replace("\\n", "  ") + '"'


def code_prose(text, pattern):
    """The comments and messages of source text; all else is gaps."""
    out = []
    at = 0
    for match in pattern.finditer(text):
        code = text[at:match.start()]
        # Two comments or two literals in a row go on with one text.
        out.append(spaces(code) if not code.strip() else blank(code))
        token = match.group()
        if token.startswith(("//", "#", "/*")):
            mark = re.match(r"[/#*!<\s]*", token).group()
            out.append(spaces(mark) + re.sub(r"\n\s*\*", lambda m: "\n" + " " * (len(m.group()) - 1),
                                             token[len(mark):]))
        else:
            out.append(quoted_prose(token))
        at = match.end()
    out.append(blank(text[at:]))
    joined = "".join(out)
    # A sentence that goes on in the next literal: "wait for " "each other".
    return re.sub(r'"(\s*)"', lambda m: f" {m.group(1)} ", joined)


def without_code(text):
    """Prose without `code`, links' targets and names of files."""
    text = re.sub(r"`[^`\n]+`", lambda m: blank(m.group()), text)
    text = re.sub(r"\]\([^)]*\)", lambda m: blank(m.group()), text)
    return re.sub(r"[\w-]+(?:/[\w.-]+)+|\w+\.(?:py|cc|h|md|toml|txt)\b", lambda m: blank(m.group()), text)


def markdown_prose(text):
    """A page without keys of JSON, with what programs print."""
    text = re.sub(r"^ *```\w*$", lambda m: blank(m.group()), text, flags=re.MULTILINE)
    text = re.sub(r"^[>#*\s-]+", lambda m: spaces(m.group()), text, flags=re.MULTILINE)
    return without_code(JSON_KEY.sub(lambda m: blank(m.group()), text))


def toml_prose(text):
    text = re.sub(r"^[\w.\"-]+(?= *=)", lambda m: blank(m.group()), text, flags=re.MULTILINE)
    return without_code(code_prose(text, SCRIPT))


def golden_prose(text):
    """The sentence, expected output and messages of a golden."""
    lines = []
    for line in text.split("\n"):
        if line[:1] in "#>!" and line[1:].strip():
            lines.append(" " + JSON_KEY.sub(lambda m: blank(m.group()), line[1:]))
        else:
            lines.append(blank(line) or GAP)
    return without_code("\n".join(lines))


def prose_of(path, text):
    """What people read of a file, at the offsets at which it is."""
    if path.suffix == ".txt":
        return golden_prose(text) if "golden" in path.parts else None
    if path.suffix in PROSE:
        return markdown_prose(text)
    if path.suffix in CODE:
        return without_code(code_prose(text, CPP))
    if path.suffix == ".toml":
        return toml_prose(text)
    if path.name == "CMakeLists.txt" or path.suffix in HASH:
        return without_code(code_prose(text, SCRIPT))
    return None


def parts_of(name):
    """"kWorkCount" and "work_count_" as "_work_count_"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return "_" + re.sub("^k_", "", spaced.strip("_")) + "_"


def is_sentence(name):
    """Whether a name is one of a test: four words or more in camel case."""
    return name[0].isupper() and "_" not in name and parts_of(name).count("_") > 4


def is_below(path, folders):
    return any(path.is_relative_to(folder) for folder in folders)


def identifier_findings(path, text, words, identifiers):
    """Retired identifiers of a source, or of the `code` of a page; `path` is below the root."""
    if path.suffix in PROSE:
        text = re.sub(r'"\w+"', "", text)  # Keys of JSON stay.
        text = "\n".join(" ".join(re.findall(r"`([^`]+)`", line)) for line in text.split("\n"))
    elif path.suffix in CODE:
        text = CPP.sub(lambda m: blank(m.group()), text)
    elif path.suffix == ".py":
        text = SCRIPT.sub(lambda m: blank(m.group()), text)
    else:
        return
    for number, line in enumerate(text.split("\n"), 1):
        for name in re.findall(r"[A-Za-z_]\w*", line):
            parts = parts_of(name)
            if is_sentence(name):
                found = [word for word in words if list(word.places(parts.replace("_", " ").strip()))]
                if found:
                    yield number, name, f"with {found[0].write.replace('{last}', 'what it is counted by')}"
                continue
            for row in identifiers:
                if (f"_{row['part']}_" in parts and name not in row["fine"]
                        and not is_below(path, row.get("outside", []))):
                    yield number, name, row["write"]
                    break


def check_file(root, path, table):
    """Findings of a file as "path:line: "word": write ..."."""
    words, identifiers = table
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return []
    shown = path.relative_to(root)
    findings = []
    prose = prose_of(shown, text)
    if prose is not None:
        taken = []  # Of two patterns that cover the same words, the first one speaks.
        for word in words:
            for match in word.places(prose):
                if any(a < match.end() and match.start() < b for a, b in taken):
                    continue
                taken.append(match.span())
                line = prose.count("\n", 0, match.start()) + 1
                said = re.sub(r"\s+", " ", match.group())
                write = word.write.replace("{last}", said.split()[-1])
                findings.append((line, f'{shown}:{line}: "{said}": write {write}'))
    for line, name, write in identifier_findings(shown, text, words, identifiers):
        findings.append((line, f"{shown}:{line}: {name}: name it {write}"))
    return [text for _, text in sorted(findings)]


TERM = re.compile(r"^\| (\*\*.+?) \|", re.MULTILINE)


def glossary_terms(text):
    """The terms of the glossary in order."""
    return [name for cell in TERM.findall(text) for name in re.findall(r"\*\*(.+?)\*\*", cell)]


def check_glossary(root):
    """Findings about the glossary and the links to it."""
    page = root / "docs/glossary.md"
    if not page.exists():
        return []
    text = page.read_text()
    terms = glossary_terms(text)
    findings = []
    if len(terms) > MOST_TERMS:
        findings.append(f"docs/glossary.md:1: {len(terms)} terms; expected at most {MOST_TERMS}")
    for term, times in collections.Counter(terms).items():
        if times > 1:
            findings.append(f"docs/glossary.md:1: {term} is defined {times} times; expected once")
    anchors = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-")
               for head in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
    for path in files_of(root, []):
        if path.suffix not in PROSE:
            continue
        for number, line in enumerate(path.read_text().split("\n"), 1):
            for anchor in re.findall(r"glossary\.md#([\w-]+)", line):
                if anchor not in anchors:
                    findings.append(f"{path.relative_to(root)}:{number}: glossary.md has no heading "
                                    f"#{anchor}; expected one of {', '.join(sorted(anchors))}")
    return findings


def files_of(root, wanted):
    """The files to check: those that git knows, or all of a folder without git."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        paths = [root / name for name in listed.stdout.split("\n") if name]
    else:
        paths = sorted(p for p in root.rglob("*") if p.is_file())
    for path in paths:
        name = path.relative_to(root).as_posix()
        if SKIPPED.search(name) or not path.is_file():
            continue
        if not wanted or any(name == w or name.startswith(w.rstrip("/") + "/") for w in wanted):
            yield path


def check_tree(root, wanted=(), table=None):
    """All findings below a root, in the order of the files."""
    table = table or load_table()
    findings = []
    for path in files_of(root, wanted):
        findings += check_file(root, path, table)
    return findings + (check_glossary(root) if not wanted else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("paths", nargs="*", help="folders or files below the root; default: all")
    parser.add_argument("--count", action="store_true", help="print only how many, by folder")
    options = parser.parse_args()
    findings = check_tree(options.root.resolve(), options.paths)
    if options.count:
        folders = collections.Counter("/".join(f.split(":")[0].split("/")[:-1][:2]) or "."
                                      for f in findings)
        for folder, count in sorted(folders.items()):
            print(f"{count:6} {folder}")
    else:
        print("\n".join(findings), end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
