"""Makes the modules of baselines and tools importable."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "baselines"), str(ROOT / "tools")]
