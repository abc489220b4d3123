#!/usr/bin/env python3
"""Builds the documentation's site and looks at its pages; exit status 77 where
MkDocs cannot be installed."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "docs_site.sh"
SKIPPED = 77
SITE = None
# What a browser would fetch by itself; links for people are not.
LOADS = re.compile(r"""<(?:script|img|iframe)[^>]*\bsrc=["']?(?:https?:)?//
                       |<link[^>]*\bhref=["']?(?:https?:)?//
                       |@import""", re.X)


def page_of(source):
    """The page that a Markdown file becomes."""
    name = "index" if source.stem == "README" else source.stem
    return SITE / source.relative_to(ROOT / "docs").parent / f"{name}.html"


class SiteTest(unittest.TestCase):

    def test_every_page_of_the_documentation_is_there(self):
        for source in (ROOT / "docs").rglob("*.md"):
            self.assertTrue(page_of(source).is_file(), source)

    def test_nothing_is_loaded_from_elsewhere(self):
        for page in SITE.rglob("*.html"):
            found = LOADS.search(page.read_text(encoding="utf-8"))
            self.assertIsNone(found, f"{page}: {found}")

    def test_accuracy_and_performance_have_charts(self):
        for name, least in (("accuracy", 4), ("performance", 6)):
            text = (SITE / f"{name}.html").read_text(encoding="utf-8")
            charts = re.findall(r"<figure[^>]*><svg.*?</figure>", text)
            self.assertGreaterEqual(len(charts), least, name)
            for chart in charts:
                self.assertGreater(chart.count("<rect"), 2, chart[:200])

    def test_dead_links_and_lost_pages_fail(self):
        with tempfile.TemporaryDirectory() as scratch:
            copy = pathlib.Path(scratch)
            for name in ("docs", "tools"):
                shutil.copytree(ROOT / name, copy / name)
            shutil.copy(ROOT / "mkdocs.yml", copy)
            (copy / "docs" / "lost.md").write_text("[x](nowhere.md)\n")
            done = subprocess.run([copy / "tools" / TOOL.name], check=False,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("lost.md", done.stderr)
            self.assertIn("nowhere.md", done.stderr)

    def test_code_in_tables_has_plain_pipes(self):
        text = (SITE / "cli.html").read_text(encoding="utf-8")
        self.assertIn("<code>--mode train|infer</code>", text)


def main():
    global SITE  # pylint: disable=global-statement
    with tempfile.TemporaryDirectory() as scratch:
        SITE = pathlib.Path(scratch) / "site"
        built = subprocess.run([TOOL, SITE], check=False)
        if built.returncode == SKIPPED:
            return SKIPPED
        if built.returncode != 0:
            print("the site could not be built")
            return 1
        return 0 if unittest.main(exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
