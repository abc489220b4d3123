#!/usr/bin/env python3
"""Takes every setting through every door: doors_test.py STEPCAST MAKE_TRACE

A setting that `predict --name value` takes gives the same step as @name=value
in compare, a study's axis, a change of whatif, --set, a scenario file and a
report that is rerun; where a door has no such setting, it says so.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

STEPCAST = MAKE_TRACE = None

# Questions, the first of which that takes a setting is used for it: the
# settings of a scenario file.
QUESTIONS = (
    {"workload": "dlrm_default", "gpu": "a100-sxm-80gb"},
    {"workload": "dlrm_mlperf", "platform": "dgx-a100", "gpus": "4",
     "impl": "torchrec"},
    {"workload": "dlrm_default", "server": "2s-epyc-7742", "nodes": "2"},
    {"workload": "fleet_m1", "server": "2s-skylake", "trainers": "2"},
    {"workload": "trace.json"},
    {"workload": "dlrm_default"},
    {"workload": "fleet_m1", "server": "2s-skylake"},
    {"workload": "dlrm_mlperf", "platform": "dgx-a100", "gpus": "16",
     "nodes": "2", "impl": "torchrec", "placement": "host"},
)
FLEET = 3
TRACE = 4

# Values that suit the models above better than the example of the table.
VALUES = {"bottom-mlp": "512-256-64", "top-mlp": "256-1", "dim": "32",
          "workload": "dlrm_mlperf", "runtime": "ipex", "rank": "0"}


class DoorsTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.work = pathlib.Path(scratch.name)
        subprocess.run([MAKE_TRACE, self.work / "trace.json", "mb=1"],
                       check=True, capture_output=True)
        (self.work / "profile").mkdir()
        (self.work / "profile" / "constants.toml").write_text("")
        (self.work / "rules.toml").write_text("")
        subprocess.run([STEPCAST, "plan", "dlrm_mlperf", "--platform",
                        "dgx-a100", "--gpus", "4", "--sharder", "naive",
                        "--out", "plan.json"], check=True, cwd=self.work,
                       capture_output=True)

    def run_stepcast(self, *words):
        """The parsed answer, or the message as a string."""
        done = subprocess.run([STEPCAST, *words, "--json"], cwd=self.work,
                              capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 2), done.stderr)
        if done.returncode == 2:
            return done.stderr
        return json.loads(done.stdout)

    @staticmethod
    def words(question):
        return [question["workload"],
                *(word for name, value in question.items()
                  if name != "workload" for word in (f"--{name}", value))]

    @staticmethod
    def step(answer):
        """What a prediction says: a step, or an iteration of a fleet."""
        if isinstance(answer, str):
            return None
        return answer.get("step_time_us", answer.get("iteration_us"))

    def predict(self, words):
        return self.run_stepcast("predict", *words)

    def with_flag(self, question, setting, value):
        if setting["name"] == "workload":
            return self.predict([value, *self.words(question)[1:]])
        option = f"--{setting['name']}"
        return self.predict([*self.words(question), option,
                             *([value] if setting["value"] else [])])

    @staticmethod
    def pair(setting, value):
        name = setting["name"]
        return f"{name}={value}" if setting["value"] else name

    def with_set(self, question, setting, value):
        if setting["name"] == "workload":
            words = self.words(question)[1:]
            return self.predict([*words, "--set", f"workload={value}"])
        return self.predict([*self.words(question), "--set",
                             self.pair(setting, value)])

    def with_file(self, question, setting, value):
        lines = {**question, setting["name"]: value}
        text = "".join(f'{name} = "{given}"\n' for name, given in lines.items()
                       if name != setting["name"] or setting["value"])
        if not setting["value"]:
            text += f"{setting['name']} = true\n"
        (self.work / "asked.toml").write_text(f"[scenario]\n{text}")
        return self.predict(["asked.toml"])

    def with_report(self, question, setting, value):
        lines = {**question, setting["name"]: value if setting["value"]
                 else True}
        for name in ("workload", "profile", "rules"):
            if name in lines:
                lines[name] = [lines[name]]
        (self.work / "report.json").write_text(
            json.dumps({"version": "0", "scenario": lines}))
        return self.predict(["report.json"])

    def with_compare(self, question, setting, value):
        if setting["name"] == "workload":
            sides = [question["workload"], value]
        else:
            sides = [question["workload"],
                     f"{question['workload']}@{self.pair(setting, value)}"]
        answer = self.run_stepcast("compare", *sides, *self.words(question)[1:])
        return answer if isinstance(answer, str) else answer["b"]

    def with_change(self, question, setting, value):
        answer = self.run_stepcast("whatif", *self.words(question), "--change",
                                   self.pair(setting, value))
        return answer if isinstance(answer, str) else answer["after"]

    def with_axis(self, question, setting, value):
        base = {name: given for name, given in question.items()
                if name not in ("workload", setting["name"])}
        text = f'model = "{question["workload"]}"\n[base]\n'
        text += "".join(f'{name} = "{given}"\n' for name, given in base.items())
        given = f'"{value}"' if setting["value"] else "true"
        if setting["name"] == "workload":
            text = text.replace(question["workload"], value)
        else:
            text += f"[vary]\n{setting['name']} = [{given}]\n"
        (self.work / "study.toml").write_text(text)
        answer = self.run_stepcast("explore", "study.toml")
        return answer if isinstance(answer, str) else answer["rows"][0]

    def test_every_setting_comes_through_every_door(self):
        settings = self.run_stepcast("list", "settings")["settings"]
        taken = 0
        for setting in settings:
            name = setting["name"]
            value = VALUES.get(name, setting["example"])
            for number, question in enumerate(QUESTIONS):
                if name in question and name != "workload":
                    continue
                wanted = self.step(self.with_flag(question, setting, value))
                if wanted is not None:
                    break
            with self.subTest(setting=name):
                self.assertIsNotNone(wanted, "no question takes it")
                self.check(number, question, setting, value, wanted)
            taken += 1
        self.assertGreater(taken, 50)

    def check(self, number, question, setting, value, wanted):
        for door in (self.with_set, self.with_file, self.with_report):
            self.assertEqual(self.step(door(question, setting, value)), wanted,
                             door.__name__)
        section = setting["section"]
        of_predict = section == "fleet of servers"
        lists = setting["name"] in ("profile", "rules")
        # Compare has no intervals, and replays a trace where predict prices it
        # anew.
        if number != TRACE:
            self.check_door(self.with_compare, question, setting, value,
                            wanted, refused=of_predict or number == FLEET or
                            setting["name"] == "samples")
        self.check_door(self.with_axis, question, setting, value, wanted,
                        refused=number == TRACE or lists)
        of_request = section in ("model", "how it is run", "machine",
                                 "figures of the machine") or (
                                     setting["name"] == "overheads")
        self.check_door(self.with_change, question, setting, value, wanted,
                        refused=not of_request or number in (FLEET, TRACE))

    def check_door(self, door, question, setting, value, wanted, refused):
        answer = door(question, setting, value)
        if refused:
            self.assertTrue(isinstance(answer, str), f"{door.__name__}: taken")
            return
        self.assertFalse(isinstance(answer, str), f"{door.__name__}: {answer}")
        # Studies write fewer digits.
        self.assertAlmostEqual(self.step(answer), wanted, delta=wanted * 1e-6,
                               msg=door.__name__)

    def complete(self, *words):
        """What bash would offer for the last word."""
        script = f"""
            PATH={pathlib.Path(STEPCAST).parent}:$PATH
            source <(stepcast completion bash)
            COMP_WORDS=({' '.join(words)!s} '')
            COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _stepcast stepcast "$1" "${{COMP_WORDS[COMP_CWORD - 1]}}"
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        return lambda begun: subprocess.run(
            ["bash", "-c", script, "bash", begun], cwd=self.work,
            capture_output=True, text=True, check=True).stdout.split()

    def test_bash_completes_commands_options_and_values(self):
        self.assertIn("predict", self.complete("stepcast")("pre"))
        self.assertEqual(self.complete("stepcast", "whatif")("--cuda"),
                         ["--cuda-graphs"])
        self.assertEqual(
            self.complete("stepcast", "predict", "--gpu")("h200"),
            ["h200-sxm-141gb"])
        self.assertIn("dlrm_mlperf", self.complete("stepcast", "plan")("dlrm"))


if __name__ == "__main__":
    STEPCAST, MAKE_TRACE = (pathlib.Path(word).resolve()
                            for word in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
