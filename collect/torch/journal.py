"""What was measured so far, safe against being killed at any byte.

The journal, one JSON object per line, is authoritative: a visit of a point
counts when its complete line is on disk, and the point is done after an
undisturbed visit, or after the last one allowed. The CSV files are made from it;
a run that starts again rewrites them, so they have each point exactly once.
"""
import csv
import io
import json
import os
import pathlib

NAME = "journal.jsonl"
# A point that was disturbed at each of so many visits is disturbed for good.
MOST_VISITS = 3


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

    def _visits(self):
        """Entries of each point, by its id, in the order of first visits."""
        visits = {}
        for entry in self.entries:
            if entry["type"] == "point":
                visits.setdefault(entry["id"], []).append(entry)
        return visits

    def done(self):
        """Ids of points that need no further visit."""
        return {name for name, visits in self._visits().items()
                if _is_done(visits)}

    def disturbed(self):
        """Of points that still need one: how many they had, by id."""
        return {name: len(visits) for name, visits in self._visits().items()
                if not _is_done(visits)}

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
        """(kind, row) of every point, once, from its best visit."""
        for visits in self._visits().values():
            best = min(visits, key=_rank)
            for row in best.get("rows", []):
                yield best["kind"], row


def _is_done(visits):
    return (len(visits) >= MOST_VISITS
            or not all(visit.get("disturbed") for visit in visits))


def _rank(visit):
    """The smaller, the better: disturbance only makes things slower."""
    times = [row.get("time_us", 0.0) for row in visit["rows"]]
    return not times, bool(visit.get("disturbed")), sum(times)


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
