#!/usr/bin/env python3
"""Runs golden cases: one text file with a command, its input and its output.

usage: run.py [--update] [--binary PATH] [CASE.txt or folder ...]

Without names all cases run.

A case, run in an empty directory of its own:

    # A sentence saying what the case shows.
    --- file trace.json                input written before the next command
    {"traceEvents": []}
    --- end
    $ stepcast doctor trace.json       the command; words as in a shell
    > what it prints                   expected stdout, line by line
    ! error: what it complains about   expected stderr
    = 2                                expected exit status; 0 if left out

`--- file NAME.gz` is stored gzipped. After the name may follow `base64` (the
block is decoded first) and `first N` (only the first N bytes are stored, after
any compression). Besides `stepcast` a command may be `cat NAME` (unpacked if
it ends in .gz) or `ls`, to look at files that were written. ` | compact` after
a command puts every object and list of its JSON on one line that fits there.

`--- use NAME...` copies files and folders of tests/golden/files. One of them is
the profile of a made-up GPU, with round figures in place of all that is fitted.
Cases that show how an answer looks are about this GPU (`--profile tiny`), so
that fitting our models anew moves none of them.

`@VERSION@` in an expected line is the version of the program. A case has at
most 150 lines.

--update rewrites the expectations in place; read the diff before committing it.
"""
import argparse
import base64
import dataclasses
import difflib
import gzip
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FILES = HERE / "files"
DEFAULT_BINARY = ROOT / "build" / "release" / "src" / "cli" / "stepcast"
TIMEOUT_S = 120
LONGEST_CASE = 150  # Lines; more than that nobody reviews.
COMPACT_COLUMNS = 250  # Of the lines that `| compact` joins.
# Reaches the program; the rest of the environment must not change its output.
KEPT_ENVIRONMENT = ("PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS",
                    "TSAN_OPTIONS", "LD_LIBRARY_PATH")


class CaseError(Exception):
    """The case file itself is wrong."""


@dataclasses.dataclass
class Outcome:
    """What a command printed and returned, or is expected to."""
    stdout: list = dataclasses.field(default_factory=list)
    stderr: list = dataclasses.field(default_factory=list)
    status: int = 0

    def lines(self):
        """The outcome as the lines of a case file."""
        marked = [f"> {line}" if line else ">" for line in self.stdout]
        marked += [f"! {line}" if line else "!" for line in self.stderr]
        return marked + ([f"= {self.status}"] if self.status else [])


@dataclasses.dataclass
class InputFile:
    """One `--- file` block."""
    name: str
    content: bytes


@dataclasses.dataclass
class Command:
    """One `$` line and what should come of it."""
    text: str
    line: int
    expected: Outcome = dataclasses.field(default_factory=Outcome)


def split_lines(text):
    """Lines as newlines divide them, and no other character does."""
    return text.removesuffix("\n").split("\n") if text else []


def encode_block(header, block, where):
    """Turns a `--- file` header and its lines into an InputFile."""
    words = header.split()
    if not words:
        raise CaseError(f"{where}: `--- file` needs a name")
    name, options = words[0], words[1:]
    path = pathlib.PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise CaseError(f"{where}: {name} would lie outside the case")
    content = "".join(line + "\n" for line in block).encode()
    if options[:1] == ["base64"]:
        content = base64.b64decode(content)
        options = options[1:]
    if name.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    if len(options) == 2 and options[0] == "first" and options[1].isdigit():
        content = content[:int(options[1])]
        options = []
    if options:
        raise CaseError(f"{where}: unknown option {' '.join(options)}")
    return InputFile(name, content)


def shared_files(names, where):
    """The InputFiles of a `--- use` line."""
    files = []
    for name in names.split():
        path = FILES / name
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        found = [file for file in found if file.is_file()]
        if not found:
            raise CaseError(f"{where}: tests/golden/files has no {name}")
        files += [InputFile(str(file.relative_to(FILES)), file.read_bytes())
                  for file in found]
    return files


def take_expectation(line, command, where):
    """Adds a `>`, `!` or `=` line to the expectation of `command`."""
    if command is None:
        raise CaseError(f"{where}: an expectation before any command")
    mark, text = line[0], line[2:]
    if line[1:2] not in ("", " "):
        raise CaseError(f"{where}: a blank must follow `{mark}`")
    if mark == ">":
        command.expected.stdout.append(text)
    elif mark == "!":
        command.expected.stderr.append(text)
    elif text.isdigit():
        command.expected.status = int(text)
    else:
        raise CaseError(f"{where}: `=` needs an exit status, not {text!r}")


def parse_case(text, name):
    """Returns the case as InputFiles, Commands and other lines, in order."""
    parts, command, lines = [], None, split_lines(text)
    at = 0
    while at < len(lines):
        line, where = lines[at], f"{name}:{at + 1}"
        at += 1
        if line.startswith("--- file"):
            if "--- end" not in lines[at:]:
                raise CaseError(f"{where}: no `--- end` follows")
            end = lines.index("--- end", at)
            parts.append(encode_block(line[len("--- file"):], lines[at:end],
                                      where))
            at = end + 1
        elif line.startswith("--- use "):
            parts += shared_files(line[len("--- use "):], where)
        elif line.startswith("$ "):
            command = Command(line[2:], at)
            parts.append(command)
        elif line[:1] in (">", "!", "="):
            take_expectation(line, command, where)
        elif line and not line.startswith("#"):
            raise CaseError(f"{where}: neither #, $, >, !, = nor ---: {line}")
    if command is None:
        raise CaseError(f"{name}: no command")
    if len(lines) > LONGEST_CASE:
        raise CaseError(f"{name}: has {len(lines)} lines; expected at most "
                        f"{LONGEST_CASE}; ask for less, share an input with "
                        "`--- use`, or split it")
    if not lines[0].startswith("# "):
        raise CaseError(f"{name}: starts without a `# sentence`")
    return parts


def run_builtin(words, work):
    """Runs `cat NAME` or `ls`; returns the text, or None if it is neither."""
    if words == ["ls"]:
        found = sorted(str(path.relative_to(work))
                       for path in work.rglob("*") if path.is_file())
        return "".join(name + "\n" for name in found)
    if words[0] == "cat" and len(words) == 2:
        path = work / words[1]
        if not path.is_file():
            raise CaseError(f"no file {words[1]} to print")
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        return content.decode(errors="backslashreplace")
    return None


def split_output(text, work, complaints, stream):
    """The lines of an output, with the paths of this machine taken out."""
    text = text.replace(str(work) + "/", "")
    if text and not text.endswith("\n"):
        complaints.append(f"{stream} does not end with a newline")
    return split_lines(text)


def compact(lines):
    """JSON with every object and list on one line that fits there."""
    compacted, opened = [], []  # opened: where brackets stand, outermost first.
    for line in lines:
        compacted.append(line)
        if line.endswith(("{", "[")):
            opened.append(len(compacted) - 1)
        elif line.strip(" ,") in ("}", "]") and opened:
            first, *items, last = compacted[opened[-1]:]
            joined = (first + " ".join(item.strip() for item in items) +
                      last.strip())
            if len(joined) <= COMPACT_COLUMNS:
                compacted[opened[-1]:] = [joined]
            opened.pop()
    return compacted


def run_command(command, binary, work, complaints):
    """Runs one command in `work` and returns its Outcome."""
    words = shlex.split(command.text)
    if words[-2:] == ["|", "compact"]:
        outcome = run_words(words[:-2], binary, work, complaints)
        outcome.stdout = compact(outcome.stdout)
        return outcome
    return run_words(words, binary, work, complaints)


def run_words(words, binary, work, complaints):
    """Runs the words of a command in `work` and returns its Outcome."""
    printed = run_builtin(words, work)
    if printed is not None:
        return Outcome(stdout=split_output(printed, work, complaints, "file"))
    if words[0] != "stepcast":
        raise CaseError(f"a command is stepcast, cat or ls, not {words[0]}")
    environment = {name: os.environ[name]
                   for name in KEPT_ENVIRONMENT if name in os.environ}
    environment.update(LC_ALL="C.UTF-8", TZ="UTC", HOME=str(work))
    try:
        done = subprocess.run([str(binary), *words[1:]], cwd=work,
                              env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=TIMEOUT_S,
                              check=False)
    except subprocess.TimeoutExpired:
        complaints.append(f"still running after {TIMEOUT_S} s")
        return Outcome(status=-1)
    if done.returncode < 0:
        complaints.append(f"killed by signal {-done.returncode}")
    text = [stream.decode(errors="backslashreplace")
            for stream in (done.stdout, done.stderr)]
    return Outcome(split_output(text[0], work, complaints, "stdout"),
                   split_output(text[1], work, complaints, "stderr"),
                   done.returncode)


def run_case(parts, binary):
    """Runs the commands; returns (command, outcome, complaints) for each."""
    results = []
    with tempfile.TemporaryDirectory(prefix="golden.") as scratch:
        work = pathlib.Path(scratch).resolve()
        for part in parts:
            if isinstance(part, InputFile):
                path = work / part.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(part.content)
                continue
            complaints = []
            outcome = run_command(part, binary, work, complaints)
            results.append((part, outcome, complaints))
    return results


def check(results, name, version):
    """Prints how the results differ from what was expected; True if not."""
    same = True
    for command, outcome, complaints in results:
        where = f"{name}:{command.line}"
        expected = [line.replace("@VERSION@", version)
                    for line in command.expected.lines()]
        actual = outcome.lines()
        for complaint in complaints:
            print(f"{where}: {complaint}")
        if expected != actual:
            print(f"{where}: $ {command.text}")
            for line in difflib.unified_diff(expected, actual, "expected",
                                             "actual", lineterm=""):
                print(line)
        same = same and expected == actual and not complaints
    return same


def hide_version(line, version):
    """Puts @VERSION@ where a line states the version of the program."""
    return re.sub(r'(\bstepcast[ /]v?|"version": ?")' + re.escape(version) +
                  r'(?![\w.])', r"\g<1>@VERSION@", line)


def updated_text(text, results, version):
    """The case file with the outcomes in place of its expectations."""
    outcomes = {command.line: outcome for command, outcome, _ in results}
    updated, in_block = [], False
    for number, line in enumerate(split_lines(text), start=1):
        if in_block or line.startswith("--- file"):
            in_block = line != "--- end"
            updated.append(line)
        elif line[:1] not in (">", "!", "="):
            updated.append(line)
        if number in outcomes:
            updated += [hide_version(line, version)
                        for line in outcomes[number].lines()]
    return "".join(line + "\n" for line in updated)


def process(path, options, version):
    """Checks or updates one case file; True if all is well."""
    name = os.path.relpath(path)
    try:
        text = path.read_bytes().decode()
        results = run_case(parse_case(text, name), options.binary)
    except (CaseError, ValueError, OSError) as error:
        print(f"{name}: {error}")
        return False
    if not options.update:
        return check(results, name, version)
    for command, _, complaints in results:
        for complaint in complaints:
            print(f"{name}:{command.line}: {complaint}")
    new_text = updated_text(text, results, version)
    if new_text != text:
        path.write_bytes(new_text.encode())
        print(f"{name}: updated")
    return not any(complaints for _, _, complaints in results)


def project_version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(stepcast VERSION ([\d.]+)", text).group(1)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cases", nargs="*", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--binary", type=pathlib.Path, default=DEFAULT_BINARY)
    options = parser.parse_args()
    options.binary = options.binary.resolve()
    if not os.access(options.binary, os.X_OK):
        parser.error(f"{options.binary} is not a program; build it first")
    cases = [case for path in options.cases or [HERE]
             for case in (sorted(path.rglob("*.txt")) if path.is_dir()
                          else [path]) if case.name != "CMakeLists.txt"]
    if not cases:
        parser.error("no cases there")
    version = project_version()
    bad = [case for case in cases if not process(case, options, version)]
    if len(cases) > 1:
        for case in bad:
            print(f"failed: {os.path.relpath(case)}")
        print(f"{len(cases) - len(bad)} passed, {len(bad)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
