#!/usr/bin/env python3
"""Tests of tools/check_architecture.py on small trees of its own."""
import pathlib
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import check_architecture  # noqa: E402

PAGE = """# Architecture

```
 base ─► cli
```

| `base` | blocks |
| `cli` | commands |

1. `main` in `src/cli/main.cc`

See `base/ids.h`.
"""


class ArchitectureTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.write("docs/architecture.md", PAGE)
        self.write("src/CMakeLists.txt",
                   "add_subdirectory(base)\nadd_subdirectory(cli)\n")
        self.write("src/base/ids.h", "")
        self.write("src/cli/main.cc", "int main() {}\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def complaints(self):
        found = []
        check_architecture.check_page(self.root, found.append)
        check_architecture.check_tree(self.root, found.append)
        return found

    def test_a_true_page_passes(self):
        self.assertEqual(self.complaints(), [])

    def test_a_path_that_is_gone_is_found(self):
        (self.root / "src/base/ids.h").unlink()
        self.assertEqual(self.complaints(), [
            "docs/architecture.md: base/ids.h does not exist"])

    def test_a_module_must_be_in_picture_and_table(self):
        self.write("src/CMakeLists.txt", "add_subdirectory(sim)\n")
        self.assertEqual(self.complaints(), [
            "docs/architecture.md: the picture lacks the module sim",
            "docs/architecture.md: the table lacks the module sim"])

    def test_a_call_must_be_in_its_file(self):
        self.write("src/cli/main.cc", "int Main() {}\n")
        self.assertEqual(self.complaints(), [
            "docs/architecture.md: call 1: src/cli/main.cc has no main"])

    def test_headers_that_serve_one_file_are_counted(self):
        for i in range(check_architecture.MOST_SINGLE_HEADERS + 1):
            self.write(f"src/cli/{i % 3}/a{i}.h", "")
            self.write(f"src/cli/{i % 3}/b{i}.cc",
                       f'#include "cli/{i % 3}/a{i}.h"\n')
        self.assertEqual(self.complaints(), [
            "src: 41 headers with a single user; expected at most 40"])

    def test_a_full_folder_is_found(self):
        for i in range(check_architecture.MOST_IN_FOLDER):
            self.write(f"src/base/f{i}.cc", "")
        self.assertEqual(self.complaints(), [
            "src: 41 files in src/base; expected at most 40"])


if __name__ == "__main__":
    unittest.main()
