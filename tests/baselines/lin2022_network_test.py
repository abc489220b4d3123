#!/usr/bin/env python3
"""Tests the papers' network on products of a simple GPU, where there is
PyTorch."""
import math
import unittest

import baselines_path  # noqa: F401  (finds the modules below)
import python_with
from gpus import products

try:
    import lin2022_network as network
except ImportError:
    network = None

QUICK_VISITS = 4e4


@unittest.skipIf(network is None, "no PyTorch here")
class NetworkTest(unittest.TestCase):

    def test_sees_the_natural_logarithms_of_a_products_sizes(self):
        seen = network.inputs({"family": "gemm", "batch": 1, "m": 2048,
                               "n": 512, "k": 13})
        for value, wanted in zip(seen, (0, 7.6246, 6.2383, 2.5649)):
            self.assertAlmostEqual(value, wanted, delta=1e-4)

    def test_sees_the_padded_image_and_the_window_of_a_convolution(self):
        seen = network.inputs({
            "family": "convolution", "batch": 1, "in_channels": 1, "height": 6,
            "width": 6, "out_channels": 1, "kernel_height": 3,
            "kernel_width": 5, "stride": 2, "padding": 1})
        self.assertEqual(seen, [0, math.log(6 + 2 * 1), 0, 0, 2, 3, 5, 0, 0])

    def test_has_no_inputs_for_families_that_the_papers_price_by_formula(self):
        self.assertEqual(network.inputs({"family": "embedding_bag"}), [])
        self.assertEqual(network.inputs({"family": "copy"}), [])

    def test_predicts_products_it_was_not_fitted_to(self):
        rows = products(1000)
        model = network.train(rows, network.Grid(
            widths=(32,), rates=(5e-3,), layers=2, batch=8,
            most_visits=QUICK_VISITS))
        errors = model.errors(rows, "test")
        self.assertEqual(len(errors), 100)
        self.assertLess(errors.gmae_pct, 4)

    def test_chooses_the_network_that_is_best_on_the_validation_part(self):
        # A rate so small that nothing is learned, before and after a good one.
        model = network.train(products(500), network.Grid(
            widths=(16,), rates=(1e-9, 5e-3, 1e-9),
            most_visits=QUICK_VISITS / 4))
        self.assertEqual(model.rate, 5e-3)

    def test_sees_small_sets_more_often_than_large_ones(self):
        grid = network.Grid(widths=(16,), rates=(1e-3,), most_epochs=7)
        self.assertEqual(network.train(products(200), grid).epochs, 7)
        grid.most_visits = 3.5 * 160  # So many are to fit.
        self.assertEqual(network.train(products(200), grid).epochs, 3)

    def test_needs_rows_to_fit_and_rows_to_choose_by(self):
        self.assertIsNone(network.train([]))
        rows = products(100)
        for row in rows:
            row.judged = False
        self.assertIsNone(network.train(rows, network.Grid(
            widths=(16,), rates=(1e-3,), most_epochs=1)))

    def test_gives_the_same_every_time(self):
        grid = network.Grid(widths=(16,), rates=(1e-3,), most_epochs=2)
        rows = products(100)
        self.assertEqual(network.train(rows, grid).predict(rows),
                         network.train(rows, grid).predict(rows))


if __name__ == "__main__":
    python_with.switch_to("torch")
    unittest.main()
