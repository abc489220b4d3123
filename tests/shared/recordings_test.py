#!/usr/bin/env python3
"""What the commands say of recorded steps: recordings_test.py STEPCAST DATA

DATA is the folder of measurements outside the repository; without it all tests
are skipped. Prints the steady step of every recording and how far it is from
the distance between the steps that were recorded.
"""
import json
import pathlib
import subprocess
import sys
import unittest

STEPCAST = DATA = None

# Steps of training, recorded with times: path and steps.
TRAINING = {
    "resnet50_kineto_V100": 6,
    "resnet50_hta_ddp_A100": 3,
    "dlrm_hta_V100_rank1of2": 6,
    "dlrm_torchrec_4xV100/run3": 3,
    "dlrm_torchrec_4xV100/straggler_1s": 3,
    "dlrm_param_8xV100/kineto": 1,
    "linear_param_2080Ti/kineto.json.gz": 40,
    "resnet18_param_2080Ti/kineto.json.gz": 30,
    "small/hta_mi250_minitoy_train.json.gz": 1,
    "small/hta_dlrm_sampled_rank0of128.json.gz": 2,
}
STEADY_WITHIN = 0.03
PREDICTED_WITHIN = 0.08
COVERED = 0.8
# A device that is active for more of the step is what limits it.
BUSY = 0.95
# Larger than any stall, in microseconds: the recorded step of ranks that start
# at other times.
REPLAY_WITHIN_PCT = 1.0


def ask(*words):
    """Exit status, the JSON report (or None) and stderr."""
    run = subprocess.run([STEPCAST, *words, "--json"], capture_output=True,
                         text=True, check=False)
    try:
        report = json.loads(run.stdout)
    except json.JSONDecodeError:
        report = None
    return run.returncode, report, run.stderr


def answer(*words):
    status, report, errors = ask(*words)
    assert status == 0, f"{' '.join(words)}: {errors}"
    return report


def all_recordings():
    """Every file or folder of ranks that can be asked about."""
    traces, more = DATA / "traces", DATA / "more/traces"
    found = [traces / path for path in TRAINING]
    found += [traces / "dlrm_param_8xV100" / name
              for name in ("et", "linked_reference")]
    found += [traces / name for name in ("linear_param_2080Ti/et.json.gz",
                                         "resnet18_param_2080Ti/et.json.gz")]
    for folder in (traces / "et_schemas", traces / "chakra_et",
                   traces / "small", more / "tracelens_micro"):
        found += sorted(folder.glob("*.gz"))
    found += sorted((more / "torch_2026_cpu").rglob("*.json.gz"))
    found += sorted((more / "pftrace").glob("*.json"))
    return sorted(set(found))


class RecordingsTest(unittest.TestCase):
    reports = {}

    @classmethod
    def setUpClass(cls):
        if not (DATA / "traces").exists():
            raise unittest.SkipTest(f"no traces in {DATA}")
        for path in TRAINING:
            full = str(DATA / "traces" / path)
            cls.reports[path] = {
                "replay": answer("replay", full),
                "predict": answer("predict", full, *cls.gpu_for(full)),
            }

    @staticmethod
    def gpu_for(path):
        status, _, errors = ask("predict", path)
        return () if status == 0 or "--gpu" not in errors else ("--gpu",
                                                                "v100-sxm-16gb")

    def test_the_steady_step_is_the_distance_between_recorded_steps(self):
        for path, report in self.reports.items():
            replay = report["replay"]
            steady, distance = replay["steady_us"], replay.get("distance_us")
            error = steady / distance - 1 if distance else float("nan")
            print(f"{path}: steady {steady / 1e3:.3f} ms, distance "
                  f"{(distance or 0) / 1e3:.3f} ms, {100 * error:+.2f} %")
            if TRAINING[path] >= 3:
                self.assertLess(abs(error), STEADY_WITHIN, path)

    def test_recorded_windows_are_replayed_as_before(self):
        for path, report in self.reports.items():
            self.assertLess(report["replay"]["summary"]["max_abs_pct"],
                            REPLAY_WITHIN_PCT, path)

    def test_predictions_are_the_steady_step_and_hold_the_recorded_one(self):
        covered = known = 0
        for path, report in self.reports.items():
            predict, replay = report["predict"], report["replay"]
            recorded = replay.get("distance_us") or replay["steady_us"]
            self.assertAlmostEqual(predict["step_time_us"], replay["steady_us"],
                                   places=2, msg=path)
            error = predict["step_time_us"] / recorded - 1
            self.assertLess(abs(error), PREDICTED_WITHIN, path)
            interval = predict["interval_us"]
            known += 1
            covered += interval["p10"] <= recorded <= interval["p90"]
        self.assertGreaterEqual(covered, COVERED * known)

    def test_all_commands_give_the_same_number(self):
        for path, report in self.reports.items():
            full = str(DATA / "traces" / path)
            step = report["predict"]["step_time_us"]
            whatif = answer("whatif", full, "--change", "scale-overhead=1")
            self.assertEqual(whatif["before"]["step_time_us"], step, path)
            self.assertEqual(whatif["after"]["step_time_us"], step, path)
            compare = answer("compare", full, full)
            self.assertEqual(compare["a"]["step_time_us"], step, path)

    def test_a_busy_device_is_never_called_host_bound(self):
        for path, report in self.reports.items():
            predict = report["predict"]
            share = predict["gpu_active_us"] / predict["step_time_us"]
            bound = predict["limits"]["bound"]
            if share > BUSY:
                self.assertIn(bound, ("kernels", "copies", "communication",
                                      "ranks"), path)

    def test_commands_agree_on_what_is_usable(self):
        for path in all_recordings():
            name = str(path)
            status, doctor, errors = ask("doctor", name)
            self.assertIn(status, (0, 1), f"{name}: {errors}")
            verdict = doctor["verdict"]
            replay, _, why = ask("replay", name)
            self.assertEqual(replay == 0, verdict["replay"],
                             f"replay {name}: {why or 'answers'}")
            predict, _, why = ask("predict", name)
            if predict != 0 and "--gpu" in why:
                predict, _, why = ask("predict", name, "--gpu", "v100-sxm-16gb")
            self.assertEqual(predict == 0, verdict["prediction"],
                             f"predict {name}: {why or 'answers'}")
            changes = ("--change", "scale-overhead=0.5")
            whatif, _, why = ask("whatif", name, *changes)
            if whatif != 0 and "--gpu" in why:
                whatif, _, why = ask("whatif", name, "--gpu", "v100-sxm-16gb",
                                     *changes)
            self.assertEqual(whatif == 0,
                             verdict["replay"] or verdict["prediction"],
                             f"whatif {name}: {why or 'answers'}")
            compare, _, why = ask("compare", name, name)
            if compare != 0 and "--gpu" in why:
                compare, _, why = ask("compare", name, name, "--gpu",
                                      "v100-sxm-16gb")
            self.assertEqual(compare == 0, whatif == 0,
                             f"compare {name}: {why or 'answers'}")


if __name__ == "__main__":
    STEPCAST, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1], verbosity=1)
