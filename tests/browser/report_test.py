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
        return self.look(probed, page)

    def look(self, probed, shown):
        """What the probe in a page saw; `shown` is the page for people."""
        profile = shown.with_suffix(".profile")
        if options.keep:
            chromium(profile, f"--screenshot={shown.with_suffix('.png')}",
                     shown.as_uri())
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
                         ["Where the time goes", "What limits the step",
                          "Critical path", "Timeline",
                          "Longest kernels", "Where the numbers are from"])
        self.assertEqual(seen["bars"], 1)
        # The critical path, ops and calls of two threads, a stream.
        self.assertEqual(seen["rows"], 6)
        self.assertTrue(all(rows > 1 for rows in seen["tables"]))
        # The bar in numbers, by family of kernels.
        self.assertIn(["gemm", f"{said['breakdown_us']['gemm'] / 1000:.3f}"],
                      [row[:2] for row in seen["cells"][0]])

    def test_prediction_of_several_gpus(self):
        said, seen = self.page("predict8", "predict", "dlrm_mlperf",
                               "--platform", "dgx-a100", "--gpus", "8")
        self.check_use(seen)
        self.assertEqual(seen["bars"], len(said["ranks"]))

    def check_linked(self, seen):
        """Two timelines on one scale that move together."""
        self.check_use(seen)
        self.assertEqual(seen["timelines"], 2)
        first, second = seen["views"]
        self.assertEqual((first["from"], first["to"]),
                         (second["from"], second["to"]))

    def test_whatif_of_a_model(self):
        said, seen = self.page("whatif", "whatif", "dlrm_mlperf", "--gpu",
                               "a100-sxm-80gb", "--batch", "8192", "--change",
                               "precision=amp-fp16")
        self.check_linked(seen)
        before = said["before"]["step_time_us"] / 1000
        after = said["after"]["step_time_us"] / 1000
        delta = said["delta"]["step_time_us"] / 1000
        self.assertIn("precision=amp-fp16", seen["title"])
        self.assertIn(f"{before:.3f} to {after:.3f} ms", seen["verdict"])
        self.assertEqual(seen["facts"]["step time"], f"{after:.3f} ms")
        self.assertEqual(seen["facts"]["change"], f"{delta:+.3f} ms")
        self.assertEqual(seen["sections"],
                         ["Where the time goes", "What changes",
                          "Critical path, what changed most",
                          "Critical path after the change", "Timelines",
                          "Longest kernels after the change",
                          "Where the numbers are from"])
        self.assertEqual(seen["barTimes"],
                         [f"{before:.3f} ms", f"{after:.3f} ms"])
        # From one step to the other, by parts that sum to the difference.
        steps = [float(text.rsplit(" ", 2)[-2]) for text in seen["waterfall"]]
        self.assertAlmostEqual(steps[0], before, places=3)
        self.assertAlmostEqual(steps[-1], after, places=3)
        self.assertAlmostEqual(sum(steps[1:-1]), delta, delta=0.01)
        self.assertEqual(seen["cells"][0][-1][1:4],
                         [f"{before:.3f}", f"{after:.3f}", f"{delta:+.3f}"])
        bottleneck = said["next_bottleneck"]
        self.assertIn([f"{bottleneck['us'] / 1000:.3f}"],
                      [row[3:4] for row in seen["cells"][2]])

    def test_whatif_of_several_ranks(self):
        said, seen = self.page("whatif4", "whatif", "dlrm_mlperf", "--platform",
                               "dgx-a100", "--gpus", "4", "--batch", "32768",
                               "--change", "overlap-comm")
        self.check_linked(seen)
        self.assertIn("at most", seen["verdict"])
        self.assertEqual(seen["bars"], 8)

    def test_suggestions(self):
        said, seen = self.page("suggest", "whatif", "dlrm_mlperf", "--gpu",
                               "v100-sxm-32gb", "--batch", "8192", "--suggest")
        self.check_use(seen)
        best = said["suggestions"][0]
        self.assertIn(f"{best['change']} gains most", seen["verdict"])
        self.assertEqual([row[0] for row in seen["cells"][0][1:]],
                         [row["change"] for row in said["suggestions"]])
        self.assertEqual(seen["bars"], len(said["suggestions"]) + 1)
        # Bars tell the step with the change, rows how much shorter it is.
        after = said["before"]["step_time_us"] + best["delta_us"]
        self.assertEqual(seen["barTimes"][0], f"{after / 1000:.3f} ms")
        for row in seen["cells"][0][1:]:
            self.assertRegex(row[1], r"^-")
            self.assertRegex(row[2], r"^-")

    def test_comparison(self):
        said, seen = self.page("compare", "compare",
                               "dlrm_mlperf@gpu=a100-sxm-80gb",
                               "dlrm_mlperf@gpu=h100-sxm-80gb", "--batch",
                               "8192")
        self.check_linked(seen)
        a, b = (said[side]["step_time_us"] / 1000 for side in "ab")
        self.assertIn(f"{a:.3f} to {b:.3f} ms", seen["verdict"])
        self.assertEqual(seen["barTimes"], [f"{a:.3f} ms", f"{b:.3f} ms"])
        self.assertEqual(seen["sections"],
                         ["Where the time goes", "From A to B", "Op by op",
                          "Timelines", "Critical path of A",
                          "Longest kernels of A", "Critical path of B",
                          "Longest kernels of B",
                          "Where the numbers are from"])
        longest = said["ops"][0]
        self.assertEqual(seen["cells"][1][1][0], longest["name"])
        self.assertEqual(seen["cells"][1][1][2:8:3],
                         [f"{longest[side]['gpu_us'] / 1000:.3f}"
                          for side in "ab"])

    def test_comparison_of_several_ranks(self):
        _, seen = self.page("compare4", "compare", "dlrm_mlperf@gpus=4",
                            "dlrm_mlperf@gpus=2", "--platform", "dgx-a100")
        self.check_linked(seen)
        self.assertEqual(seen["bars"], 6)

    def test_a_change_of_nothing(self):
        _, seen = self.page("noop", "whatif", "dlrm_mlperf", "--gpu",
                            "v100-sxm-32gb", "--change", "precision=fp32")
        self.assertIn("nothing changes", seen["verdict"])

    def test_comparison_of_sums(self):
        sums = self.folder / "sums.json"
        sums.write_text(run(options.binary, "predict", "dlrm_mlperf", "--json"))
        said, seen = self.page("sums", "compare", str(sums), str(sums))
        self.assertEqual(seen["problems"], [])
        self.assertEqual(said["delta"]["step_time_us"], 0)
        self.assertIn("take the same", seen["verdict"])
        self.assertEqual(seen["timelines"], 0)

    def test_plan(self):
        said, seen = self.page("plan", "plan", "dlrm_mlperf", "--gpu",
                               "a100-sxm-80gb", "--evaluations", "2000",
                               "--trials", "0")
        self.check_use(seen)
        step = f"{said['step_time_us'] / 1000:.3f} ms"
        self.assertEqual(seen["facts"]["step time"], step)
        self.assertIn(f"{step} per step by {said['sharder']}", seen["verdict"])
        self.assertEqual(seen["sections"],
                         ["Sharders", "Embeddings of each rank", "Tables",
                          "Where the step goes", "Critical path", "Timeline",
                          "Where the numbers are from"])
        sharders, ranks, tables, _, _ = seen["cells"]
        self.assertEqual([row[0] for row in sharders[1:]],
                         [row["sharder"] for row in said["sharders"]])
        self.assertEqual([row[4] for row in ranks[1:]],
                         [f"{rank['perf_us'] / 1000:.3f}"
                          for rank in said["ranks"]])
        self.assertEqual(len(tables) - 1, len(said["tables"]))
        # Sharders, embeddings of the ranks, their steps.
        self.assertEqual(seen["bars"], len(said["sharders"]) + 16)

    def test_study(self):
        said, seen = self.page("study", "explore", "batch_sweep")
        self.assertEqual(seen["problems"], [])
        self.assertFalse(seen["wide"])
        self.assertTrue(seen["title"].startswith("batch_sweep: "))
        self.assertEqual(seen["sections"][:3],
                         ["Charts", "Pareto front",
                          "Sensitivity to uncertain inputs"])
        # Two charts of every row, the Pareto front, and one tornado.
        self.assertEqual(len(seen["charts"]), 4)
        rows = said["row_count"]
        self.assertEqual(seen["points"], 3 * rows)
        self.assertEqual(seen["marked"], len(said["pareto"]["rows"]))
        inputs = said["sensitivity"][0]["inputs"]
        self.assertEqual(len(seen["cells"][0]), 1 + len(inputs))
        self.assertEqual(len(seen["cells"][1]), 1 + rows)
        throughputs = [row[3] for row in seen["cells"][1][1:]]
        for row, shown in zip(said["rows"], throughputs):
            self.assertAlmostEqual(float(shown.replace(",", "")),
                                   row["samples_per_s"],
                                   delta=1 + 1e-5 * row["samples_per_s"])

    def without_scripts(self, name, *words):
        """Writes a page with stepcast; what is seen of it with scripts off.

        It is in a frame that may not run scripts, next to a page that may
        and that looks into it.
        """
        page = self.folder / f"{name}.html"
        run(options.binary, *words, "--html", str(page))
        text = page.read_text()
        self.assertEqual(re.findall(r'(?:src|href)="', text), [])
        probe = (HERE / "static_probe.js").read_text()
        framed = page.with_suffix(".framed.html")
        framed.write_text(
            '<!doctype html><meta charset="utf-8"><body style="margin:0">'
            '<iframe sandbox="allow-same-origin" '
            'style="border:0;width:1280px;height:1600px" '
            f'srcdoc="{html.escape(text)}"></iframe>'
            f"<script>{probe}</script>")
        return self.look(framed, framed)

    def check_static(self, seen, timelines):
        """What holds for every page without scripts."""
        self.assertEqual(seen["scripted"], 0)
        self.assertFalse(seen["wide"], "the page scrolls sideways")
        self.assertNotIn("zoom", seen["text"])
        self.assertEqual(seen["empty"], 0)
        self.assertEqual(seen["cut"], [])
        self.assertEqual(seen["small"], [])
        self.assertEqual(seen["covered"], [])
        self.assertEqual(len(seen["overviews"]), timelines)
        for overview in seen["overviews"]:
            self.assertGreater(overview["width"], 1000)
            self.assertGreater(overview["height"], 16 * overview["rows"])
            self.assertGreater(overview["parts"], overview["rows"])
            self.assertEqual(overview["ticks"][0], "0 ms")
            self.assertGreater(len(overview["ticks"]), 2)

    def test_pages_without_scripts(self):
        trace = self.folder / "short.json"
        run(options.make_trace, str(trace), "steps=1", "layers=20", "tables=8")
        model = ("dlrm_mlperf", "--gpu", "a100-sxm-80gb", "--batch", "8192")
        pages = {
            "predict": (1, "predict", "dlrm_mlperf", "--platform", "dgx-a100",
                        "--gpus", "8"),
            "replay": (1, "replay", str(trace)),
            "whatif": (2, "whatif", *model, "--change", "precision=amp-fp16"),
            "suggest": (1, "whatif", *model, "--suggest"),
            "compare": (2, "compare", "dlrm_mlperf@gpu=a100-sxm-80gb",
                        "dlrm_mlperf@gpu=h100-sxm-80gb", "--batch", "8192"),
            "plan": (1, "plan", "dlrm_mlperf", "--gpu", "a100-sxm-80gb",
                     "--evaluations", "500", "--trials", "0"),
            "explore": (0, "explore", "batch_sweep"),
        }
        for name, (timelines, *words) in pages.items():
            with self.subTest(name):
                seen = self.without_scripts(f"static_{name}", *words)
                self.check_static(seen, timelines)
                self.assertGreater(len(seen["sections"]), 2)
                self.assertTrue(seen["verdict"])

    def test_replay_of_a_long_trace(self):
        trace = self.folder / "trace.json"
        run(options.make_trace, str(trace), "steps=1", "layers=2500",
            "tables=800")
        said, seen = self.page("replay", "replay", str(trace))
        self.check_use(seen)
        self.assertGreater(seen["slices"], 40000)
        steady = said["steady_us"] / 1000
        self.assertIn(f"{steady:.0f}", seen["verdict"])
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
