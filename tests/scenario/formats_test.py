#!/usr/bin/env python3
"""Asks for reports in every format: formats_test.py STEPCAST MAKE_TRACE

A table has the same heads and the same numbers in text and HTML, and its values
are those of JSON under the keys that the heads of the page name.
"""
import csv
import html.parser
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

STEPCAST = MAKE_TRACE = None

MODEL = ["dlrm_default", "--gpu", "v100-sxm-16gb", "--batch", "512"]
JOB = ["dlrm_default", "--platform", "dgx-a100", "--gpus", "4"]
LISTS = ("formats", "gpus", "models", "workloads", "platforms", "servers",
         "figures", "overheads", "changes", "studies", "settings")
REPORTS = {
    "predict": ["predict", *MODEL],
    "predict of several ranks": ["predict", *JOB],
    "predict of a server": ["predict", "dlrm_default", "--server",
                            "2s-epyc-7742"],
    "predict of a trace": ["predict", "trace.json", "--gpu", "a100-sxm-80gb"],
    "predict of a fleet": ["predict", "fleet_m1", "--server", "2s-skylake",
                           "--trainers", "2"],
    "whatif": ["whatif", *MODEL, "--change", "precision=amp-fp16"],
    "whatif of several ranks": ["whatif", *JOB, "--change", "overlap-comm"],
    "suggestions": ["whatif", *MODEL, "--suggest"],
    "doctor": ["doctor", "trace.json"],
    "replay": ["replay", "trace.json"],
    "compare": ["compare", "dlrm_default@batch=512", "dlrm_default@batch=1024",
                "--gpu", "v100-sxm-16gb"],
    "plan": ["plan", *JOB, "--evaluations", "500", "--trials", "0"],
    "eval kernels": ["eval", "kernels", "--data", "kernels.csv"],
    "eval steps": ["eval", "steps", "--data", "steps.csv"],
    "explore": ["explore", "study.toml"],
    "explore by input": ["explore", "study.toml", "--tornado"],
    **{f"list {what}": ["list", what] for what in LISTS},
}
STUDY = """\
title = "batches"
model = "dlrm_default"
[vary]
batch = { from = 128, to = 2048, steps = 5, scale = "log" }
pooling = { from = 10, to = 100, steps = 10 }
[[sensitivity]]
name = "one"
of = { batch = 512 }
inputs = [{ setting = "pooling", low = 50, high = 200, why = "assumed" }]
"""
KERNELS = """\
gpu,dtype,batch,m,n,k,layout,bias,time_us,timing
v100-pcie-32gb,fp32,1,2048,1024,1024,nt,0,340.0,profiler
p100-pcie-16gb,fp32,1,2048,1024,1024,nt,0,520.0,profiler
"""
STEPS = """\
id,implementation,mode,model,num_gpus,gpu,batch_per_gpu,precision,cuda_graphs,\
embedding_placement,step_time_ms
one,NVIDIA PyTorch DLRM,infer,DLRM-small(Criteo FL15),1,V100-SXM2-32GB,64,\
FP32,on,GPU HBM,0.2
new,Somebody's,train,DLRM_DDP,1,V100-SXM2-32GB,2048,FP32,off,GPU HBM,5
"""
WITHOUT_CSV = {"doctor"}
UNITS = {"ms": 1e3, "us": 1, "GB": 1e9, "MB": 1e6}


def write_inputs(directory, make_trace):
    """What REPORTS are of."""
    subprocess.run([make_trace, directory / "trace.json", "mb=1"],
                   check=True, capture_output=True)
    (directory / "kernels.csv").write_text(KERNELS)
    (directory / "steps.csv").write_text(STEPS)
    (directory / "study.toml").write_text(STUDY)


class Page(html.parser.HTMLParser):
    """The tables of a page, what its head says, and its question."""

    def __init__(self, text):
        super().__init__()
        self.tables = []
        self.lines = []  # Of a tree: the words of each, the heads first.
        self.question = self.verdict = self.title = ""
        self.target = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "table":
            self.tables.append({"key": attributes.get("data-key"), "heads": [],
                                "keys": [], "rows": []})
        elif tag == "tr":
            self.tables[-1]["rows"].append([])
        elif tag == "th":
            self.tables[-1]["keys"].append(attributes.get("data-key"))
            self.tables[-1]["heads"].append("")
            self.target = "th"
        elif tag == "td":
            self.tables[-1]["rows"][-1].append("")
            self.target = "td"
        elif tag == "h1":
            self.target = "title"
        elif attributes.get("class") == "verdict":
            self.target = "verdict"
        elif tag in ("div", "summary") and "line" in attributes.get(
                "class", "").split():
            self.lines.append([])
        elif tag == "span" and attributes.get("class") in ("name", "cell"):
            self.lines[-1].append("")
            self.target = "line"
        elif attributes.get("id") == "question":
            self.target = "question"

    def handle_endtag(self, tag):
        if tag == "thead":
            self.tables[-1]["rows"].clear()
        self.target = None

    def handle_data(self, data):
        if self.target == "th":
            self.tables[-1]["heads"][-1] += data
        elif self.target == "td":
            self.tables[-1]["rows"][-1][-1] += data
        elif self.target == "line":
            self.lines[-1][-1] += data
        elif self.target:
            setattr(self, self.target, getattr(self, self.target) + data)


def text_tables(text):
    """{heads: rows} of the tables in a text; cells by two spaces or more."""
    split = lambda line: re.split(r" {2,}", line.strip())
    tables = {}
    rows = None
    for line in text.splitlines():
        if not line.startswith("  ") or line.startswith("  ..."):
            rows = None
        elif rows is None:
            rows = tables.setdefault(tuple(split(line)), [])
        else:
            rows.append(split(line))
    return {heads: rows for heads, rows in tables.items() if rows}


def at(value, key):
    for name in key.split("."):
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def csv_value(text):
    """What a cell of CSV says."""
    try:
        return float(text) if text else None
    except ValueError:
        return text


def shown(value, cell, head):
    """Whether a cell of a page is a value of JSON."""
    if value is None:
        return cell in ("", "-")
    if isinstance(value, bool):
        return cell == ("yes" if value else "no")
    if isinstance(value, list):
        return cell == ", ".join(value)
    if isinstance(value, str):
        start, _, end = cell.partition("...")
        return cell == value or (value.startswith(start) and
                                 value.endswith(end))
    text = cell.replace(",", "")
    decimals = len(text.rstrip(" %").partition(".")[2])
    if text.endswith(" %"):
        # Shares are rounded in JSON as well.
        number = float(text[:-2])
        return any(abs(number - value * scale) <= 0.51 * 10**-decimals +
                   0.00006 * scale for scale in (1, 100))
    unit = UNITS.get(head.rsplit(" ", 1)[-1], 1)
    return abs(float(text) - value / unit) <= max(
        0.51 * 10**-decimals, 0.006 * abs(value) if "e" in text else 0)


class FormatsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.work = pathlib.Path(scratch.name)
        write_inputs(cls.work, MAKE_TRACE)

    def ask(self, *words):
        done = subprocess.run([STEPCAST, *words], cwd=self.work,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_json(self, table, said):
        rows = at(said, table["key"])
        if rows is None:  # The doctor's tables are of a rank.
            group = said.get("ranks") or said["sensitivity"]
            rows = at(group[0], table["key"])
        self.assertIsNotNone(rows, table["key"])
        self.assertEqual(len(table["rows"]), min(len(rows), 500))
        for cells, row in zip(table["rows"], rows):
            for cell, key, head in zip(cells, table["keys"], table["heads"]):
                if key:
                    value = at(row, key)
                    self.assertTrue(shown(value, cell, head),
                                    f"{table['key']}: {key} is {value}, "
                                    f"{head} is {cell}")

    def check_csv(self, table, words):
        """A table that is CSV's, in part."""
        head, *rows = csv.reader(io.StringIO(self.ask(*words, "--csv")))
        self.assertLessEqual(set(table["keys"]), set(head))
        self.check_json({**table, "key": "rows"}, {"rows": [
            {key: csv_value(cell) for key, cell in zip(head, row)}
            for row in rows]})

    def check_text(self, table, tables):
        """The rows of the text are rows of the page, in their order."""
        rows = tables[tuple(table["heads"])]
        page = [[cell for cell in row if cell] for row in table["rows"]]
        for row in rows:
            self.assertIn(row, page)
            del page[:page.index(row) + 1]

    def check_tree(self, lines, heads, rows):
        """The numbers of every row of the text are in a line of the tree."""
        numbers = lambda cells: {cell for cell in cells
                                 if re.match(r"[\d,.]+( %)?$", cell)}
        self.assertLessEqual(set(heads) - {"from"}, set(lines[0]))
        for row in rows:
            self.assertTrue(any(numbers(row[1:]) <= set(line)
                                for line in lines), row)

    def test_tables_are_the_same_in_all_formats(self):
        for name, words in REPORTS.items():
            with self.subTest(name):
                text = self.ask(*words, "--html", "page.html")
                said = json.loads(self.ask(*words, "--json"))
                page = Page((self.work / "page.html").read_text())
                tables = text_tables(text)
                both = 0
                for table in page.tables:
                    if table["key"]:
                        self.check_json(table, said)
                    elif all(table["keys"]):
                        self.check_csv(table, words)
                    if tuple(table["heads"]) in tables:
                        self.check_text(table, tables)
                        both += 1
                for heads, rows in tables.items():
                    if page.lines and heads[0] == page.lines[0][0]:
                        self.check_tree(page.lines, heads, rows)
                        both += 1
                # No table of the text is missing on the page.
                self.assertEqual(both, len(tables))
                self.assertGreater(both, 0)

    def test_all_begin_with_the_same_verdict(self):
        for name, words in REPORTS.items():
            # The page of a plan knows the step of the best one; lists answer
            # nothing.
            if name == "plan" or name.startswith("list "):
                continue
            with self.subTest(name):
                title, verdict, *_ = self.ask(*words, "--html",
                                              "page.html").splitlines()
                said = json.loads(self.ask(*words, "--json"))
                page = Page((self.work / "page.html").read_text())
                markdown = self.ask(*words, "--markdown").replace("\\", "")
                key = "summary" if name == "doctor" else "verdict"
                self.assertEqual(verdict, said[key])
                self.assertEqual((page.title, page.verdict), (title, verdict))
                self.assertIn(f"## {title}\n\n**{verdict[0].upper()}"
                              f"{verdict[1:]}**\n", markdown)
                self.assertEqual(list(said)[0], "version")
                question = json.loads(page.question)
                self.assertEqual(question, {key: said[key] for key in question})
                self.assertIn("scenario", question)

    def test_csv_has_a_value_for_every_name(self):
        for name, words in REPORTS.items():
            if name in WITHOUT_CSV:
                continue
            with self.subTest(name):
                head, *rows = csv.reader(io.StringIO(self.ask(*words, "--csv")))
                self.assertEqual(len(set(head)), len(head))
                self.assertGreater(len(rows), 0)
                self.assertEqual({len(row) for row in rows}, {len(head)})

    def test_formats_exclude_each_other(self):
        done = subprocess.run([STEPCAST, "predict", "--json", "--markdown"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "stepcast: --json and --markdown were "
                                      "given; expected one of them\n")


if __name__ == "__main__":
    STEPCAST, MAKE_TRACE = (pathlib.Path(word).resolve()
                            for word in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
