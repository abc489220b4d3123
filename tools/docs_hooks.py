"""Hooks of the documentation's site: charts from tables, and GitHub's Markdown.

MkDocs calls on_page_markdown for each page (mkdocs.yml). A chart shows the
table under a heading, as SVG inside the page; a table that is gone or has other
columns fails the build.
"""
import dataclasses
import html
import math
import re

from mkdocs.exceptions import PluginError

WIDTH, LABEL_WIDTH, RIGHT = 760, 300, 60
BAR, BETWEEN = 9, 8
HEAD, FOOT = 24, 22
# Distinct in light and dark, and for readers who do not see all colours.
COLOURS = ("#3f6fd8", "#e08a1e", "#9e9e9e")


@dataclasses.dataclass
class Chart:
    """A bar chart of one table. Heading and columns are patterns."""
    heading: str
    title: str
    labels: tuple  # Columns that name a row.
    series: dict  # Column to what it is called.
    keep: object = lambda row: True
    logarithmic: bool = False


def has_rows(row, least):
    return float(row["n"].replace(",", "")) >= least


CHARTS = {
    "accuracy.md": [
        Chart("Kernels, on the test part",
              "Matrix products: geometric mean of the errors, in %",
              ("GPU", "type", "timing"),
              {"GMAE": "stepcast", "formula": "formula alone",
               "roofline": "roofline"},
              keep=lambda row: row["kernels"] == "gemm" and has_rows(row, 100)),
        Chart("Kernels, on the test part",
              "Other kernels: geometric mean of the errors, in %",
              ("kernels", "GPU", "type"),
              {"GMAE": "stepcast", "formula": "formula alone",
               "roofline": "roofline"},
              keep=lambda row: row["kernels"] != "gemm" and
              not row["kernels"].startswith("…") and has_rows(row, 100)),
        Chart("Steps from model files",
              "Published steps: mean error, in %, of groups of five or more",
              ("implementation", "mode", "GPU"),
              {"MAPE": "mean error", "GMAE": "geometric mean"},
              keep=lambda row: has_rows(row, 5)),
        Chart("The papers' configurations",
              "Step times of the papers: size of the error, in %",
              ("GPU", "model", "batch"),
              {"ours": "stepcast", "theirs": "the papers' own"}),
    ],
    "performance.md": [
        Chart("Reading and linking a trace of 65 MB", "MB per second",
              ("what",), {"MB/s": "MB/s"}),
        Chart("Pricing (matrix products|GEMMs)", "Shapes per second", ("what",),
              {"shapes/s": "shapes/s"}),
        Chart("Simulating", "Milliseconds, logarithmic", ("what",),
              {"ms": "takes", "wanted|target": "target, at most"}, logarithmic=True),
        Chart("Replaying", "Milliseconds, logarithmic", ("what",),
              {"ms": "takes", "wanted|target": "target, at most"}, logarithmic=True),
        Chart("Predicting, in one process", "Predictions per second, logarithmic",
              ("what",), {"predictions/s": "reached",
                          "wanted|target": "target, at least"}, logarithmic=True),
        Chart("Predicting, one command", "Milliseconds, logarithmic",
              ("model", "GPU"), {"ms": "takes", "wanted|target": "target, at most"},
              logarithmic=True),
    ],
}


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def find_table(lines, heading):
    """(line of its header, rows as dictionaries) of the first table under a
    heading. Of columns with the same name the first counts."""
    start = next((number for number, line in enumerate(lines)
                  if re.fullmatch(rf"#+ ({heading})", line)), None)
    if start is None:
        raise PluginError(f"no heading '{heading}' to draw a chart under")
    at = start + 1
    while at < len(lines) and not lines[at].startswith("|"):
        if lines[at].startswith("#"):
            raise PluginError(f"no table under '{heading}' to draw")
        at += 1
    names, rows, row = cells(lines[at]), [], at + 2
    while row < len(lines) and lines[row].startswith("|"):
        found = {}
        for name, cell in zip(names, cells(lines[row])):
            found.setdefault(name, cell)
        rows.append(found)
        row += 1
    return at, rows


def cell_of(row, column):
    """The cell of a column; None if there is no such column."""
    return next((cell for name, cell in row.items()
                 if re.fullmatch(column, name)), None)


def number(cell):
    """The size of a number in a cell; None if there is none."""
    found = re.match(r"\*{0,2}[+-]?([\d,]*\.?\d+)", cell)
    return float(found[1].replace(",", "")) if found else None


def ticks(least, most, logarithmic):
    """Round numbers along the axis."""
    if logarithmic:
        return [10.0 ** power for power in
                range(math.floor(math.log10(least)),
                      math.ceil(math.log10(most)) + 1)]
    step = 10.0 ** math.floor(math.log10(most))
    for fraction in (0.1, 0.2, 0.5, 1):
        if most / (step * fraction) <= 6:
            step *= fraction
            break
    return [step * index for index in range(math.ceil(most / step) + 1)]


def tick_text(value):
    return f"{value:,.0f}" if value >= 1 or value == 0 else f"{value:g}"


def draw(chart, rows):
    """The chart as one line of HTML."""
    bars = [(", ".join(cell_of(row, column) for column in chart.labels
                       if cell_of(row, column) not in ("", "–")),
             [number(cell_of(row, column)) for column in chart.series])
            for row in rows if chart.keep(row)]
    values = [value for _, group in bars for value in group if value]
    if not values:
        raise PluginError(f"no rows to draw: {chart.title}")
    marks = ticks(min(values), max(values), chart.logarithmic)
    low, high = marks[0], marks[-1]

    def place(value):
        share = (math.log(value / low) / math.log(high / low)
                 if chart.logarithmic else (value - low) / (high - low))
        return LABEL_WIDTH + (WIDTH - LABEL_WIDTH - RIGHT) * share

    row_height = BAR * len(chart.series) + BETWEEN
    height = HEAD + row_height * len(bars) + FOOT
    out = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" '
           f'aria-label="{html.escape(chart.title)}" width="100%" '
           'font-family="sans-serif" font-size="11" fill="currentColor">']
    left = LABEL_WIDTH
    for name, colour in zip(chart.series.values(), COLOURS):
        out.append(f'<rect x="{left}" y="4" width="10" height="10" '
                   f'fill="{colour}"/>'
                   f'<text x="{left + 14}" y="13">{html.escape(name)}</text>')
        left += 34 + 7 * len(name)
    bottom = height - FOOT
    for mark in marks:
        x = place(mark)
        out.append(f'<line x1="{x:.1f}" y1="{HEAD}" x2="{x:.1f}" '
                   f'y2="{bottom}" stroke="currentColor" '
                   'stroke-opacity="0.2"/>'
                   f'<text x="{x:.1f}" y="{bottom + 14}" '
                   f'text-anchor="middle">{tick_text(mark)}</text>')
    for index, (label, group) in enumerate(bars):
        top = HEAD + row_height * index + BETWEEN / 2
        middle = top + BAR * len(group) / 2 + 4
        short = label if len(label) <= 50 else label[:49] + "…"
        out.append(f'<text x="{LABEL_WIDTH - 6}" y="{middle:.1f}" '
                   f'text-anchor="end">{html.escape(short)}</text>')
        for place_in, (value, colour) in enumerate(zip(group, COLOURS)):
            if not value:
                continue
            end = place(value)
            y = top + BAR * place_in
            out.append(f'<rect x="{LABEL_WIDTH}" y="{y:.1f}" '
                       f'width="{max(1.0, end - LABEL_WIDTH):.1f}" '
                       f'height="{BAR - 1}" fill="{colour}"/>'
                       f'<text x="{end + 4:.1f}" y="{y + BAR - 1:.1f}" '
                       f'font-size="9">{value:,.10g}</text>')
    out.append("</svg>")
    return (f'<figure style="width:100%">{"".join(out)}'
            f"<figcaption>{html.escape(chart.title)}</figcaption></figure>")


def on_page_markdown(markdown, page, **_):
    """The page with its charts, in the dialect that MkDocs reads."""
    lines = markdown.split("\n")
    for chart in CHARTS.get(page.file.src_uri, []):
        at, rows = find_table(lines, chart.heading)
        missing = [column for column in (*chart.labels, *chart.series)
                   if cell_of(rows[0], column) is None]
        if missing:
            raise PluginError(f"{page.file.src_uri}: the table under "
                              f"'{chart.heading}' has no column "
                              f"{', '.join(missing)}")
        lines[at:at] = [draw(chart, rows), ""]
    # GitHub wants pipes in code escaped inside tables, MkDocs does not.
    return "\n".join(
        re.sub(r"`[^`]*`", lambda code: code[0].replace(r"\|", "|"), line)
        if line.startswith("|") else line for line in lines)
