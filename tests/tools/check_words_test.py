#!/usr/bin/env python3
"""Tests tools/check_words.py, and every example of its table."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_words  # noqa: E402  (found through the line above)


def findings_in(**files):
    """Checks a tree of these files; "__" in a name is a slash, "_dot_" a dot."""
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        for name, text in files.items():
            path = root / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_words.check_tree(root)


class TableTest(unittest.TestCase):

    def test_every_example_is_found_or_fine(self):
        words, _ = check_words.load_table()
        for word in words:
            for text in word.found:
                self.assertTrue(list(word.places(text)), f"{word.word} is not found in: {text}")
            for text in word.fine:
                self.assertFalse(list(word.places(text)), f"{word.word} is found in: {text}")


class CheckWordsTest(unittest.TestCase):

    def test_a_finding_has_its_place_and_what_to_write(self):
        self.assertEqual(
            findings_in(docs__a_dot_md="A page.\n\nThe works of a stream.\n"),
            ['docs/a.md:3: "works": write kernels, memcpys or GPU activities'])

    def test_words_are_found_across_lines_of_a_comment(self):
        self.assertEqual(len(findings_in(src__a_dot_cc="// one file a\n// rank\nint x;\n")), 1)
        self.assertEqual(len(findings_in(src__a_dot_cc='Fail("it counts 3 kernels "\n     "a step");\n')), 1)

    def test_code_between_two_comments_separates_them(self):
        self.assertEqual(findings_in(src__a_dot_cc="// one file a\nint x;\n// rank\n"), [])

    def test_keys_and_keywords_are_not_prose(self):
        self.assertEqual(findings_in(src__a_dot_cc='json.Key("hand_over"); Find("works");\n',
                                     tests__golden__a_dot_txt='> {"works": 3, "behind": 1}\n',
                                     data__a_dot_toml='behind = "none"\n'), [])

    def test_code_of_a_page_is_checked_for_identifiers_only(self):
        found = findings_in(docs__a_dot_md="Call `Find(works, behind)`, see `WorkId`.\n")
        self.assertEqual(len(found), 3, found)
        self.assertTrue(all("name it" in line for line in found), found)

    def test_identifiers_are_found_by_their_parts(self):
        found = findings_in(src__a_dot_cc="WorkId kWork; int work_count_, workload, network, worker;\n")
        self.assertEqual([line.split(": ")[1] for line in found], ["WorkId", "kWork", "work_count_"])

    def test_long_identifiers_are_sentences(self):
        found = findings_in(src__a_dot_cc="TEST(A, AKernelStartsBehindItsLaunch) {}\n"
                                          "TEST(A, AllocationsInsideDoNoWorkAtAll) {}\n")
        self.assertEqual(found, ["src/a.cc:1: AKernelStartsBehindItsLaunch: name it with after"])

    def test_an_identifier_may_be_right_in_some_folders(self):
        self.assertEqual(findings_in(collect__a_dot_cc="struct Work {};\n"), [])

    def test_goldens_are_checked_where_people_read(self):
        found = findings_in(tests__golden__a_dot_txt="# Told once.\n$ stepcast told\n> behind it\n! a circle\n")
        self.assertEqual(len(found), 3, found)

    def test_inputs_of_goldens_may_say_anything(self):
        self.assertEqual(findings_in(tests__golden__a_dot_txt="--- file a\nworks behind\n--- end\n"), [])


class GlossaryTest(unittest.TestCase):

    def test_a_term_is_defined_once(self):
        row = "| **op** | an operator |\n"
        self.assertEqual(findings_in(docs__glossary_dot_md=row + row),
                         ["docs/glossary.md:1: op is defined 2 times; expected once"])

    def test_there_are_at_most_90_terms(self):
        rows = "".join(f"| **t{i}** | a term |\n" for i in range(91))
        self.assertEqual(findings_in(docs__glossary_dot_md=rows),
                         ["docs/glossary.md:1: 91 terms; expected at most 90"])

    def test_links_go_to_headings_that_are_there(self):
        found = findings_in(docs__glossary_dot_md="# Glossary\n## Fleets\n",
                            docs__a_dot_md="[a](glossary.md#fleets) [b](glossary.md#ships)\n")
        self.assertEqual(len(found), 1, found)
        self.assertIn("docs/a.md:1: glossary.md has no heading #ships", found[0])


class TreeTest(unittest.TestCase):

    def test_docs_and_what_collects_data_are_clean(self):
        folders = ["docs/models", "docs/formats", "docs/glossary.md", "docs/accuracy.md",
                   "docs/performance.md", "data", "collect", "tools"]
        self.assertEqual(check_words.check_tree(ROOT, folders), [])

    def test_the_glossary_is_short(self):
        self.assertEqual(check_words.check_glossary(ROOT), [])


if __name__ == "__main__":
    unittest.main()
