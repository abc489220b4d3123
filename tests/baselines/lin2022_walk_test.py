#!/usr/bin/env python3
"""Tests the papers' walk on a few ops whose clocks are worked out by hand."""
import unittest

import baselines_path  # noqa: F401  (finds the modules below)
import graph_text
from lin2022_walk import (Kernel, WalkOp, is_modelled, is_passed_over,
                          set_times, walk, walk_ops)
from overheads import Overhead, OverheadTable

# T1 2, T2 10, T3 5, T4 4, T5 3, an op that launches nothing 1.
OVERHEADS = OverheadTable({
    "t1": {"*": Overhead(1, 2)},
    "t2": {"*": Overhead(1, 10)},
    "t3": {"*": Overhead(1, 5)},
    "t4": {"launch cudaLaunchKernel": Overhead(1, 4)},
    "t5": {"*": Overhead(1, 3)},
    "no_launch": {"*": Overhead(1, 1)},
})


def op(name, *times, **more):
    """An op with a launch for each time."""
    return WalkOp(name, launches=["cudaLaunchKernel"] * len(times),
                  kernels=[Kernel(time) for time in times], **more)


def collective(time):
    return WalkOp("all_to_all", launches=["cudaLaunchKernel"],
                  kernels=[Kernel(time, communication=True)])


def walk_one(ops, variant):
    return walk([ops], OVERHEADS, variant)[0]


class WalkTest(unittest.TestCase):

    def test_in_2022_kernels_queue_after_their_launches(self):
        # Host: T1 2, T2 10, T4 4, T5 3, T4 4, T3 5 = 28; then 2 + 1.
        # GPU: from 12 + 4 = 16 for 50 + 4 to 70; from max(70 + 1, 19 + 4) for
        # 6 + 4.
        walker = walk_one([op("aten::mm", 50, 6), op("aten::view")],
                          "lin2022")
        self.assertEqual(walker.clocks, [28, 31])
        self.assertEqual(walker.gpu, 81)
        self.assertEqual(walker.active, 64)
        self.assertEqual(walker.step, 81)

    def test_in_2022_launches_without_a_model_still_cost(self):
        one = op("aten::mm", 50, 6)
        one.kernels.pop()
        # The second launch leaves no kernel: the GPU's clock only moves by the
        # gap.
        walker = walk_one([one], "lin2022")
        self.assertEqual(walker.clocks, [28])
        self.assertEqual(walker.gpu, 71)
        self.assertEqual(walker.active, 54)

    def test_kernels_of_ops_without_a_model_take_no_time(self):
        one = op("some::op", 50, 6, modelled=False)
        for variant in ("lin2022", "lin2024"):
            walker = walk_one([one], variant)
            self.assertEqual(walker.clocks, [28])
            self.assertEqual(walker.gpu, 0)

    def test_in_2022_the_call_of_an_empty_copy_is_short(self):
        one = op("aten::to", 50, has_children=False)
        self.assertEqual(walk_one([one], "lin2022").clocks, [2 + 10 + 2 + 5])

    def test_in_2024_a_copy_waits_for_the_gpu(self):
        # GPU: from 16 for 50 + 5 to 71. The host, at 21, goes on then.
        self.assertEqual(walk_one([op("aten::to", 50)], "lin2024").clocks, [71])

    def test_in_2024_launches_without_a_model_are_free(self):
        one = op("aten::mm", 50, 6)
        one.kernels.pop()
        self.assertEqual(walk_one([one], "lin2024").clocks, [2 + 10 + 4 + 5])

    # compute  [16 ====== 121]            [ 122 = 137 ]
    # comm.                   [122 ==== 227]
    def test_in_2024_communication_has_its_own_stream(self):
        walker = walk_one([op("aten::mm", 100), collective(100),
                           op("aten::mm", 10)], "lin2024")
        self.assertEqual(walker.gpu, 227)
        # Only what reaches beyond the collective would count on top of it.
        self.assertEqual(walker.active, 105 + 105)

    def test_in_2024_what_uses_a_collective_waits_for_it(self):
        ops = [collective(100), op("aten::mm", 10, waits_for_collective=True)]
        # Communication from 16 to 121; then a gap of 1 and 10 + 5.
        self.assertEqual(walk_one(ops, "lin2024").gpu, 137)

    def test_in_2024_ranks_meet_in_collectives(self):
        early, late = walk([[collective(100)],
                            [op("aten::mm", 300), collective(100)]],
                           OVERHEADS, "lin2024")
        # Rank 1: kernel from 16 to 321, collective from 322 to 427.
        self.assertEqual(early.step, 427)
        self.assertEqual(late.step, 427)
        # Rank 0 waited inside its collective, which ran from 16.
        self.assertEqual(early.active, 427 - 16)

    def test_in_2021_the_optimizer_counts_twice(self):
        # T1 2, twice T2 10 and T3 5, T5 3, no T4.
        self.assertEqual(walk_one([op("Optimizer.step#SGD.step", 1, 1)],
                                  "lin2021").clocks, [35])


GRAPH = """stepcast-graph 1
rank 0 @0+100
  thread main
    annotation "forward" @0+20
      op "aten::mm" @1+10
        call launch "cudaLaunchKernel" @2+3
          s7: opaque "a" @8+5 #a
        call stream_sync "cudaStreamSynchronize" @6+3
    op "aten::to" @50+10
  thread autograd
    op "MmBackward0" @30+10
      op "aten::mm" @31+8
        call launch "cudaLaunchKernelExC" @32+3
          s20: collective kind=all_reduce bytes=8 group=2 "nccl" @38+5 #b
    op "aten::relu" @46+3
      call launch "cudaLaunchKernel" @47+1
        s7: opaque "c" @60+5 #c
  wait #a -> #b
  wait #b -> #c
"""


def slice_of(name, stream, start, duration, **args):
    return {"ph": "X", "name": name, "pid": 3, "tid": stream, "cat": "kernel",
            "ts": start, "dur": duration, "args": args}


TIMELINE = [
    {"ph": "M", "name": "process_name", "pid": 2,
     "args": {"name": "rank 0 V100 measured"}},
    {"ph": "M", "name": "process_name", "pid": 3,
     "args": {"name": "rank 0 simulated"}},
    {"ph": "M", "name": "thread_name", "pid": 3, "tid": 1,
     "args": {"name": "stream 7"}},
    {"ph": "M", "name": "thread_name", "pid": 3, "tid": 2,
     "args": {"name": "stream 20"}},
    slice_of("c", 1, 55, 9), slice_of("a", 1, 9, 7),
    slice_of("nccl", 2, 40, 30, wait_us=18),
]


class WalkOpsTest(unittest.TestCase):

    def ops(self, variant="lin2024"):
        ranks = graph_text.parse(GRAPH)
        set_times(ranks, TIMELINE)
        return list(walk_ops(ranks[0], variant))

    def test_threads_stand_in_one_line_by_start(self):
        self.assertEqual([one.name for one in self.ops()],
                         ["aten::mm", "MmBackward0", "aten::relu", "aten::to"])

    def test_syncs_are_no_launches(self):
        self.assertEqual(self.ops()[0].launches, ["cudaLaunchKernel"])

    def test_kernels_take_what_they_take_in_the_timeline(self):
        first, second, third, _ = self.ops()
        self.assertEqual(first.kernels, [Kernel(7)])
        # Without what the collective waits for others.
        self.assertEqual(second.kernels, [Kernel(12, communication=True)])
        self.assertEqual(third.kernels, [Kernel(9)])

    def test_ops_know_whether_others_are_inside(self):
        first, second, *_ = self.ops()
        self.assertFalse(first.has_children)
        self.assertTrue(second.has_children)

    def test_what_waits_for_a_collective_is_known(self):
        self.assertEqual([one.waits_for_collective for one in self.ops()],
                         [False, False, True, False])

    def test_a_timeline_of_another_step_is_refused(self):
        with self.assertRaisesRegex(
                ValueError, "1 activities are simulated; expected 2"):
            set_times(graph_text.parse(GRAPH), TIMELINE[:-2])

    def test_knows_which_ops_the_papers_model(self):
        engine = "autograd::engine::evaluate_function: "
        for name, variant, wanted in (
                ("aten::addmm", "lin2022", True),
                (engine + "AddmmBackward0", "lin2022", True),
                ("torch::autograd::AccumulateGrad", "lin2022", True),
                ("Optimizer.step#SGD.step", "lin2022", True),
                ("aten::gelu", "lin2022", False),
                ("aten::gelu", "lin2024", True),
                ("GeluBackward0", "lin2024", True),
                ("aten::sort", "lin2024", False),
                ("SortBackward0", "lin2024", False)):
            self.assertEqual(is_modelled(name, variant), wanted, name)
        self.assertTrue(is_passed_over("SliceBackward", "lin2022"))
        self.assertFalse(is_passed_over("SliceBackward", "lin2021"))


class OverheadsTest(unittest.TestCase):
    TABLE = OverheadTable({
        "t2": {"aten::add": Overhead(1, 10), "AddmmBackward0": Overhead(3, 40),
               "ReluBackward0": Overhead(1, 20)},
        "t4": {"launch cudaLaunchKernel": Overhead(1, 4),
               "launch cudaMemcpyAsync": Overhead(1, 8)}})

    def test_a_row_is_found_by_its_name_or_a_similar_one(self):
        self.assertEqual(self.TABLE.t2("aten::add"), 10)
        self.assertEqual(self.TABLE.t2("aten::add_"), 10)
        self.assertEqual(self.TABLE.t2("AddmmBackward"), 40)
        self.assertEqual(self.TABLE.t4("hipLaunchKernel"), 4)

    def test_else_that_of_its_family_or_of_all(self):
        self.assertEqual(self.TABLE.t2("BmmBackward0"), 35)  # (3 x 40 + 20) / 4
        self.assertEqual(self.TABLE.t2("aten::cat"), 30)
        self.assertEqual(self.TABLE.t4("cudaLaunchKernelExC"), 6)

    def test_parts_that_a_set_lacks_take_no_time(self):
        self.assertEqual(self.TABLE.t3("aten::add"), 0)

    def test_the_recorder_can_be_taken_off(self):
        table = OverheadTable({"t1": {"*": Overhead(1, 9, events=2)}},
                              profiler_us_per_event=1.5, profiled=False)
        self.assertEqual(table.t1(), 6)


if __name__ == "__main__":
    unittest.main()
