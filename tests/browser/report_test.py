#!/usr/bin/env python3
"""Opens HTML reports in headless Chromium and uses them as a reader would.

usage: report_test.py --binary STEPCAST --make-trace MAKE_TRACE [--keep DIR]

Exit status 77 if there is no browser. With --keep, pages and screenshots stay
in DIR for people to look at.
"""
import argparse
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Drawing everything once in a page of 100,000 slices takes 20 ms on a slow
# machine; ten times that would be felt.
SLOW_DRAW_MS = 200

options = None
browser = next(filter(None, map(shutil.which, BROWSERS)), None)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=240,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def chromium(profile, *words):
    return run(browser, "--headless", "--no-sandbox", "--disable-gpu",
               f"--user-data-dir={profile}", "--window-size=1300,1600", *words)


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(options.keep or tempfile.mkdtemp())
        cls.folder.mkdir(parents=True, exist_ok=True)

    @classmethod
    def tearDownClass(cls):
        if not options.keep:
            shutil.rmtree(cls.folder, ignore_errors=True)

    def page(self, name, *words):
        """Writes a page with stepcast; what stepcast says, and what is seen."""
        page = self.folder / f"{name}.html"
        said = json.loads(run(options.binary, *words, "--json", "--html",
                              str(page)))
        return said, self.probe(page)

    def probe(self, page):
        text = page.read_text()
        probe = (HERE / "probe.js").read_text()
        self.assertIn("<head>", text)
        probed = page.with_suffix(".probed.html")
        probed.write_text(text.replace(
            "<head>", f"<head><script>{probe}</script>", 1))
        profile = page.with_suffix(".profile")
        if options.keep:
            chromium(profile, f"--screenshot={page.with_suffix('.png')}",
                     page.as_uri())
        dom = chromium(profile, "--dump-dom", probed.as_uri())
        # The script names the element too; it comes last.
        found = re.findall(r'<pre id="probe">({.*?})</pre>', dom, re.S)
        self.assertTrue(found, "the page did not come to its end")
        return json.loads(html.unescape(found[-1]))

    def check_use(self, seen):
        """What holds for every timeline."""
        self.assertEqual(seen["problems"], [])
        self.assertFalse(seen["wide"], "the page scrolls sideways")
        self.assertEqual(seen["overview"], 0)
        self.assertGreater(seen["coloured"], 2000)
        length = lambda view: view["to"] - view["from"]
        self.assertLess(length(seen["zoomed"]), 0.6 * length(seen["whole"]))
        self.assertGreater(seen["moved"]["from"], seen["zoomed"]["from"])
        self.assertAlmostEqual(length(seen["moved"]), length(seen["zoomed"]),
                               delta=1)
        self.assertEqual(seen["again"]["from"], seen["whole"]["from"])
        self.assertRegex(seen["tip"], r"(us|ms), from ")
        self.assertRegex(seen["found"], r"^\d+ found, ")
        self.assertLess(seen["draw_ms"], SLOW_DRAW_MS)

    def test_prediction(self):
        said, seen = self.page("predict", "predict", "dlrm_mlperf", "--gpu",
                               "a100-sxm-80gb", "--batch", "2048")
        self.check_use(seen)
        self.assertIn("dlrm_mlperf on a100-sxm-80gb", seen["title"])
        milliseconds = f"{said['step_time_us'] / 1000:.3f} ms"
        self.assertEqual(seen["facts"]["step time"], milliseconds)
        self.assertIn(milliseconds, seen["verdict"])
        self.assertEqual(seen["sections"],
                         ["Where the time goes", "Timeline", "Critical path",
                          "Longest kernels", "Where the numbers are from"])
        self.assertEqual(seen["bars"], 1)
        # The critical path, ops and calls of two threads, a stream.
        self.assertEqual(seen["rows"], 6)
        self.assertTrue(all(rows > 1 for rows in seen["tables"]))

    def test_prediction_of_several_gpus(self):
        said, seen = self.page("predict8", "predict", "dlrm_mlperf",
                               "--platform", "dgx-a100", "--gpus", "8")
        self.check_use(seen)
        self.assertEqual(seen["bars"], len(said["ranks"]))

    def test_replay_of_a_long_trace(self):
        trace = self.folder / "trace.json"
        run(options.make_trace, str(trace), "steps=1", "layers=2500",
            "tables=800")
        said, seen = self.page("replay", "replay", str(trace))
        self.check_use(seen)
        self.assertGreater(seen["slices"], 40000)
        measured = said["ranks"][0]["steps"][0]["measured_us"] / 1000
        self.assertIn(f"{measured:.0f}", seen["verdict"])
        print(f"drawing {seen['slices']} slices: {seen['draw_ms']:.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--make-trace", required=True)
    parser.add_argument("--keep")
    options = parser.parse_args()
    if browser is None:
        print("skipped: no Chromium on this machine")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
