#!/usr/bin/env python3
"""Runs the commands that the documentation shows and compares their output.

usage: run.py [--update] [--list] [--binary PATH] [PAGE.md or folder ...]

Without names: README.md and all pages below docs/.

Each ```console block is run; the blocks of a page run in order, in one
directory of their own that starts empty, so a page can tell a story:

    ```console
    $ stepcast doctor trace.json.gz     a command, run by bash
    what it prints                      stdout and stderr, line by line
    ...                                 any lines, at least one
    ```

Comments in the Markdown, each on a line of its own, steer this:

    <!-- file NAME -->         the fenced block that follows is this file
    <!-- hidden: COMMAND -->   run it before the next block, if that is run,
                               and show nothing
    <!-- needs: WHAT -->       the next block runs only where this is; one of
                               NEEDS below. `shared` is the recorded data
                               next to the checkout; the rest is nowhere
    <!-- shared PATH as NAME --> a link to recorded data, for such blocks
    <!-- status N -->          the last command of the next block ends so; 0,
                               or 2 if it prints a line `stepcast: ...`

Blocks that are not run are listed and counted. A block without `console` that
shows commands is an error: nobody would run it.

--update rewrites the outputs in place, keeping `...`; read the diff before
committing it. --list only says which blocks there are.
"""
import argparse
import dataclasses
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHARED = ROOT.parent / "shared" / "data"
DEFAULT_BINARY = ROOT / "build" / "release" / "src" / "cli" / "stepcast"
TIMEOUT_S = 120
# Reaches the commands; the rest of the environment must not change the output.
KEPT_ENVIRONMENT = ("PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS",
                    "TSAN_OPTIONS", "LD_LIBRARY_PATH")
# What a block may need, and why it cannot be run without.
NEEDS = {
    "shared": "recorded data next to the checkout",
    "checkout": "runs the build or the tests of the checkout itself",
    "gpu": "a GPU",
    "torch": "PyTorch",
    "measurements": "measurements of the reader's own machine",
    "long run": "takes minutes or more",
}

FENCE = re.compile(r"^( *)(```+)(\S*)\s*$")
COMMENT = re.compile(r"^ *<!-- (file|hidden:|needs:|shared|status) *(.*?) *-->$")
SHOWS_COMMAND = re.compile(r"^\s*(\$ |(\./)?stepcast (?!graph)[a-z]+ )")
ERROR = re.compile(r"stepcast: (?!warning: )")
ELISION = "..."
# Shown lines that are less alike than this are not the same line any more.
ALIKE = 0.5


class PageError(Exception):
    """The page itself is wrong."""


@dataclasses.dataclass
class Command:
    """One `$` line and what it should print."""
    text: str
    shown: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Block:
    """One fenced block of commands, and what the comments before it say."""
    line: int  # Of the opening fence, from 1.
    end: int  # Of the closing one.
    indent: str
    commands: list
    needs: str = ""
    status: int = None
    steps: list = dataclasses.field(default_factory=list)  # To do before it.


@dataclasses.dataclass
class Step:
    """Something to be done before the next block."""
    kind: str  # file, hidden:, shared
    words: str
    lines: list = dataclasses.field(default_factory=list)


def parse_commands(lines, where):
    commands = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("$ "):
            text = line[2:]
            while text.endswith("\\") and at < len(lines):
                text += "\n" + lines[at]
                at += 1
            commands.append(Command(text))
        elif commands:
            commands[-1].shown.append(line)
        else:
            raise PageError(f"{where}: a console block starts with `$ `, not "
                            f"{line!r}")
    if not commands:
        raise PageError(f"{where}: a console block without a command")
    return commands


def parse_page(text, name):
    """Returns the Blocks in their order."""
    blocks, steps, said, lines = [], [], {}, text.split("\n")
    file_name = None
    at = 0
    while at < len(lines):
        line, where = lines[at], f"{name}:{at + 1}"
        at += 1
        comment, fence = COMMENT.match(line), FENCE.match(line)
        if comment:
            kind, words = comment.groups()
            if kind == "file":
                file_name = words
            elif kind == "needs:" and words not in NEEDS:
                raise PageError(f"{where}: needs {words}; expected one of "
                                f"{', '.join(NEEDS)}")
            elif kind in ("hidden:", "shared"):
                steps.append(Step(kind, words))
            else:
                said[kind] = words
            continue
        if not fence:
            if line.strip() and (said or file_name):
                raise PageError(f"{where}: a comment that steers a block is "
                                "followed by text")
            continue
        indent, marks, language = fence.groups()
        start = at
        while at < len(lines) and lines[at].strip() != marks:
            at += 1
        if at == len(lines):
            raise PageError(f"{where}: the block has no end")
        inside = [inner.removeprefix(indent) for inner in lines[start:at]]
        at += 1
        if file_name:
            steps.append(Step("file", file_name, inside))
            file_name = None
        elif language == "console":
            status = said.get("status")
            blocks.append(Block(start, at, indent,
                                parse_commands(inside, where),
                                said.get("needs:", ""),
                                None if status is None else int(status),
                                steps))
            steps = []
        elif not language and any(map(SHOWS_COMMAND.match, inside)):
            raise PageError(f"{where}: shows a command; expected ```console")
        elif said:
            raise PageError(f"{where}: a comment that steers a block is "
                            "followed by another kind of block")
        said = {}
    return blocks


def missing(block):
    """Why a block is not run; empty if it is."""
    if not block.needs or (block.needs == "shared" and SHARED.is_dir()):
        return ""
    return f"needs {block.needs}: {NEEDS[block.needs]}"


class Runner:
    """Runs the commands of one page in a directory of its own."""

    def __init__(self, binary, scratch):
        self.folder = scratch / "page"
        self.folder.mkdir()
        tools = scratch / "bin"
        tools.mkdir()
        (tools / "stepcast").symlink_to(binary)
        self.binary = tools / "stepcast"
        self.environment = {name: os.environ[name]
                            for name in KEPT_ENVIRONMENT if name in os.environ}
        self.environment.update(LC_ALL="C.UTF-8", TZ="UTC", HOME=str(scratch))
        path = self.environment.get("PATH", "/usr/bin:/bin")
        self.environment["PATH"] = f"{tools}:{path}"

    def run(self, text):
        """(lines, status) of a command."""
        # Pages that start from a checkout say ./stepcast.
        text = re.sub(r"(?m)(^|[|&;(] *)\./stepcast\b", r"\1stepcast", text)
        try:
            done = subprocess.run(
                ["bash", "-c", text], cwd=self.folder, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            return [f"still running after {TIMEOUT_S} s"], -1
        printed = done.stdout.decode(errors="backslashreplace")
        printed = printed.replace(str(self.folder) + "/", "")
        lines = [line.rstrip() for line in printed.split("\n")]
        return lines[:-1] if lines[-1] == "" else lines, done.returncode

    def prepare(self, step, where):
        if step.kind == "file":
            path = self.folder / step.words
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(line + "\n" for line in step.lines),
                            encoding="utf-8")
        elif step.kind == "shared":
            source, _, name = step.words.partition(" as ")
            if not (SHARED / source).exists():
                raise PageError(f"{where}: no {source} in the recorded data")
            (self.folder / name).symlink_to(SHARED / source)
        else:
            lines, status = self.run(step.words)
            if status != 0:
                raise PageError(f"{where}: hidden: {step.words}: "
                                + "\n".join(lines))


def parts_of(shown):
    """The shown lines between elisions, and where those are."""
    found = [[]]
    for line in shown:
        if line.strip() == ELISION:
            found.append([])
        else:
            found[-1].append(line)
    return found


def place(shown, actual, exact):
    """Where each part begins in the actual lines, in order; None if one is
    not there."""
    parts, starts, at = parts_of(shown), [], 0
    for number, part in enumerate(parts):
        first, last = number == 0, number == len(parts) - 1
        latest = len(actual) - sum(len(p) + 1 for p in parts[number + 1:])
        candidates = range(at, latest - len(part) + 1)
        if first:
            candidates = [c for c in candidates if c == 0]
        if last:
            candidates = [c for c in candidates if c == len(actual) - len(part)]
        best, where = 0.0 if exact else ALIKE, None
        for start in candidates:
            window = actual[start:start + len(part)]
            if exact:
                score = 1.0 if window == part else 0.0
            else:
                score = sum(difflib.SequenceMatcher(None, a, b).ratio()
                            for a, b in zip(part, window)) / max(1, len(part))
            if score > best or (not part and where is None):
                best, where = score, start
            if exact and best == 1.0:
                break
        if where is None:
            return None
        starts.append(where)
        at = where + len(part) + 1  # An elision stands for a line at least.
    return starts


def matches(shown, actual):
    if not any(line.strip() == ELISION for line in shown):
        return shown == actual
    return place(shown, actual, exact=True) is not None


def refreshed(shown, actual):
    """The shown lines with what is printed now, elisions kept; None if the
    output has changed too much for that."""
    if not any(line.strip() == ELISION for line in shown):
        return actual
    starts = place(shown, actual, exact=False)
    if starts is None:
        return None
    marks = [line for line in shown if line.strip() == ELISION]
    lines = []
    for number, (start, part) in enumerate(zip(starts, parts_of(shown))):
        if number > 0:
            lines.append(marks[number - 1])
        lines += actual[start:start + len(part)]
    return lines


def expected_status(block, number, printed):
    last = number == len(block.commands) - 1
    if block.status is not None and last:
        return block.status
    return 2 if any(map(ERROR.match, printed)) else 0


def run_block(block, runner, where):
    """Runs a block; returns its complaints and the outputs."""
    complaints, outputs = [], []
    for number, command in enumerate(block.commands):
        actual, status = runner.run(command.text)
        outputs.append(actual)
        wanted = expected_status(block, number, actual)
        if status != wanted:
            complaints.append(f"{where}: $ {command.text}\nexit status "
                              f"{status}; expected {wanted}")
        if not matches(command.shown, actual):
            diff = difflib.unified_diff(command.shown, actual, "shown",
                                        "printed", lineterm="")
            complaints.append(f"{where}: $ {command.text}\n"
                              + "\n".join(diff))
    return complaints, outputs


@dataclasses.dataclass
class Tally:
    """What became of the blocks of all pages."""
    passed: int = 0
    failed: list = dataclasses.field(default_factory=list)
    skipped: list = dataclasses.field(default_factory=list)


def block_lines(block, outputs, where):
    """The block with its outputs in place, as lines of the page."""
    lines = []
    for command, actual in zip(block.commands, outputs):
        lines += ("$ " + command.text).split("\n")
        shown = refreshed(command.shown, actual)
        if shown is None:
            print(f"{where}: $ {command.text}\nthe output has changed too much "
                  "to keep `...`; edit the block")
            shown = command.shown
        lines += shown
    return [block.indent + line if line else "" for line in lines]


def process(path, options, tally):
    """Checks or updates one page."""
    name = os.path.relpath(path, ROOT)
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    try:
        blocks = parse_page(text, name)
        with tempfile.TemporaryDirectory(prefix="docs.") as scratch:
            runner = Runner(options.binary, pathlib.Path(scratch).resolve())
            changes = []
            for block in blocks:
                where = f"{name}:{block.line}"
                why = missing(block)
                if why:
                    tally.skipped.append(f"{where}: {why}")
                elif options.list:
                    tally.passed += 1
                    for command in block.commands:
                        print(f"{where}: $ {command.text}")
                else:
                    for step in block.steps:
                        runner.prepare(step, where)
                    complaints, outputs = run_block(block, runner, where)
                    if complaints and not options.update:
                        print("\n".join(complaints))
                        tally.failed.append(where)
                    else:
                        tally.passed += 1
                    changes.append((block, outputs, where))
    except PageError as error:
        print(error)
        tally.failed.append(name)
        return
    if options.update:
        for block, outputs, where in reversed(changes):
            lines[block.line:block.end - 1] = block_lines(block, outputs, where)
        if "\n".join(lines) != text:
            path.write_text("\n".join(lines), encoding="utf-8")
            print(f"{name}: updated")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--binary", type=pathlib.Path, default=DEFAULT_BINARY)
    options = parser.parse_args()
    options.binary = options.binary.resolve()
    if not os.access(options.binary, os.X_OK):
        parser.error(f"{options.binary} is not a program; build it first")
    pages = [page.resolve()
             for path in options.pages or [ROOT / "README.md", ROOT / "docs"]
             for page in (sorted(path.rglob("*.md")) if path.is_dir()
                          else [path])]
    tally = Tally()
    for page in pages:
        process(page, options, tally)
    for why in tally.skipped:
        print(f"skipped: {why}")
    for where in tally.failed:
        print(f"failed: {where}")
    print(f"{tally.passed} passed, {len(tally.failed)} failed, "
          f"{len(tally.skipped)} skipped")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
