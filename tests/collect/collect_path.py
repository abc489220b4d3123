"""Makes the modules of collect/torch importable."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLLECT = ROOT / "collect" / "torch"
sys.path.insert(0, str(COLLECT))
