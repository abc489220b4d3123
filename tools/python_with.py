"""Finds a python3 that has the modules a script needs."""
import os
import subprocess
import sys

# Where Debian's packages put their modules.
DEBIAN = "/usr/bin/python3"
PACKAGES = {"numpy": ["python3-numpy"],
            # With the reference BLAS, training takes five times as long.
            "torch": ["python3-torch", "libopenblas0-pthread"],
            "xgboost": ["python3-xgboost"]}


def _has(python, modules):
    done = subprocess.run([python, "-c", f"import {', '.join(modules)}"],
                          capture_output=True, check=False)
    return done.returncode == 0


def find(*modules):
    """This python3 or Debian's, whichever has them, or None."""
    for python in (sys.executable, DEBIAN):
        if os.path.exists(python) and _has(python, modules):
            return python
    return None


def find_or_install(*modules):
    """The same, installing Debian's packages if no python3 has them."""
    python = find(*modules)
    if python:
        return python
    packages = sum((PACKAGES[name] for name in modules), [])
    script = os.path.basename(sys.argv[0])
    print(f"{script}: installing {' '.join(packages)}", file=sys.stderr)
    subprocess.run(["apt-get", "install", "-y", "--no-install-recommends",
                    *packages], stdout=subprocess.DEVNULL, check=False)
    if not _has(DEBIAN, modules):
        raise SystemExit(f"error: no {' and '.join(modules)} here, and "
                         f"{' '.join(packages)} could not be installed; "
                         "expected either")
    return DEBIAN


def switch_to(*modules):
    """Goes on in a python3 that has them, if there is one and this is not."""
    python = find(*modules)
    if python and python != sys.executable:
        os.execv(python, [python, *sys.argv])
