"""What was measured so far, safe against being killed at any byte.

The journal, one JSON object a line, is the truth: a point counts as done
when its whole line is on disk. The CSV files are made from it; a run that
starts again makes them anew, so they have each point exactly once.
"""
import csv
import io
import json
import os
import pathlib

NAME = "journal.jsonl"


def read_entries(text):
    """The whole lines of a journal, and how many bytes they take.

    The last line of a killed run may be cut off; it does not count.
    """
    entries = []
    good = 0
    for line in text.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            entries.append(json.loads(line))
        except ValueError:
            break
        good += len(line)
    return entries, good


class Journal:
    """An append-only file of points, each with its rows."""

    def __init__(self, directory):
        self._directory = pathlib.Path(directory)
        self._directory.mkdir(parents=True, exist_ok=True)
        self._path = self._directory / NAME
        self.entries = []
        if self._path.exists():
            self.entries, good = read_entries(self._path.read_bytes())
            with open(self._path, "r+b") as file:
                file.truncate(good)
        self._file = open(self._path, "ab")

    def add(self, entry):
        """Puts one entry on disk before it returns."""
        line = json.dumps(entry, sort_keys=True) + "\n"
        self._file.write(line.encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        self.entries.append(entry)

    def close(self):
        self._file.close()

    def header(self):
        """The settings the sweep was started with, or None."""
        for entry in self.entries:
            if entry["type"] == "start":
                return entry
        return None

    def done(self):
        """Ids of points that need no second look: the last word counts."""
        states = {}
        for entry in self.entries:
            if entry["type"] == "point":
                states[entry["id"]] = True
            elif entry["type"] == "again":
                for name in entry["ids"]:
                    states[name] = False
        return {name for name, is_done in states.items() if is_done}

    def spent(self):
        """Seconds all runs took together, as of the last entry of each."""
        total = 0.0
        last = 0.0
        for entry in self.entries:
            if entry["type"] == "run":
                total += last
                last = 0.0
            last = max(last, entry.get("at_s", 0.0))
        return total + last

    def rows(self):
        """(kind, row) of every point, once, in the order of measurement."""
        latest = {}
        for number, entry in enumerate(self.entries):
            if entry["type"] == "point":
                latest[entry["id"]] = number
            elif entry["type"] == "again":
                for name in entry["ids"]:
                    latest.pop(name, None)
        for number in sorted(latest.values()):
            entry = self.entries[number]
            for row in entry.get("rows", []):
                yield entry["kind"], row


def cell(value):
    """A value as the CSV files write it: lists with semicolons."""
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    if isinstance(value, (list, tuple)):
        return "[" + ";".join(cell(item) for item in value) + "]"
    return "" if value is None else str(value).replace(",", ";")


def csv_text(columns, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([cell(row.get(column)) for column in columns])
    return out.getvalue()


def write_tables(directory, rows, schemas):
    """Writes <kind>/<gpu>.csv for all rows, each file in one go."""
    tables = {}
    for kind, row in rows:
        tables.setdefault((kind, row["gpu"]), []).append(row)
    for (kind, gpu), table in sorted(tables.items()):
        path = pathlib.Path(directory) / kind / f"{gpu}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(".tmp")
        scratch.write_text(csv_text(schemas[kind], table))
        os.replace(scratch, path)


def append_row(directory, kind, row, schemas):
    """Adds one row to its table; a killed run mends it when it resumes."""
    path = pathlib.Path(directory) / kind / f"{row['gpu']}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with open(path, "a", encoding="utf-8") as file:
        text = csv_text(schemas[kind], [row])
        file.write(text if is_new else text.split("\n", 1)[1])
