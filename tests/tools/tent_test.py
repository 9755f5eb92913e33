#!/usr/bin/env python3
"""`tent NAME` finds and becomes tent-NAME.

    tent_test.py TENT

Each test copies the executable into a folder of its own, so that what lies beside it is known.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TENT = Path(sys.argv.pop(1))


class Tent(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.beside = self.root / "beside"
        self.in_path = self.root / "in-path"
        for created in (self.beside, self.in_path):
            created.mkdir()
        shutil.copy(TENT, self.beside / "tent")

    def add_tool(self, folder, name, body, mode=0o755):
        tool = folder / name
        tool.write_text(body if body.startswith("#!") else f"#!/bin/sh\n{body}\n", encoding="utf-8")
        tool.chmod(mode)

    def tent(self, *arguments, path=None, **options):
        environment = dict(os.environ, PATH=str(self.in_path) if path is None else path)
        options.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([self.beside / "tent", *arguments], stderr=subprocess.PIPE, text=True, check=False,
                              env=environment, cwd=self.root, **options)

    def assert_usage_fault(self, result, *expected):
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        for text in expected:
            self.assertIn(text, result.stderr)

    def test_the_tool_beside_it_wins_over_the_one_in_path(self):
        self.add_tool(self.beside, "tent-echo", "echo beside")
        self.add_tool(self.in_path, "tent-echo", "echo path")
        self.assertEqual(self.tent("echo").stdout, "beside\n")

    def test_a_tool_only_in_path_is_found(self):
        self.add_tool(self.in_path, "tent-echo", "echo path")
        self.assertEqual(self.tent("echo").stdout, "path\n")

    def test_arguments_streams_and_exit_status_are_those_of_the_tool(self):
        self.add_tool(self.beside, "tent-echo", '/bin/cat; printf "<%s>" "$@"; exit 7')
        result = self.tent("echo", "a b", "", "--help", "*", input="in ")
        self.assertEqual((result.stdout, result.stderr, result.returncode), ("in <a b><><--help><*>", "", 7))

    def test_a_relative_or_empty_entry_of_path_is_not_searched(self):
        self.add_tool(self.root, "tent-echo", "echo here")
        for path in ("", ".", ":", f"{self.in_path}::."):
            with self.subTest(path=path):
                self.assert_usage_fault(self.tent("echo", path=path), 'no tool "echo"')

    def test_an_unknown_name_lists_the_tools_and_says_which_one_was_meant(self):
        self.add_tool(self.beside, "tent-explain", "")
        self.add_tool(self.in_path, "tent-bench", "")
        self.add_tool(self.in_path, "tent-notes", "", mode=0o644)
        (self.in_path / "tent-folder").mkdir()
        result = self.tent("explian")
        self.assert_usage_fault(result, 'no tool "explian" (did you mean "explain"?)', "tools: bench explain\n")
        self.assert_usage_fault(self.tent("submit"), 'no tool "submit"\n')

    def test_a_name_with_a_slash_is_refused(self):
        self.add_tool(self.beside, "tent-echo", "echo ran")
        for name in ("x/../tent-echo", "/bin/true", "../echo", "a\x1b[31m", "", "ä"):
            with self.subTest(name=name):
                result = self.tent(name)
                self.assert_usage_fault(result, "a name has letters, digits")
                self.assertNotIn("\x1b", result.stderr)

    def test_without_arguments_it_prints_its_usage_as_a_fault(self):
        self.assert_usage_fault(self.tent(), "usage: tent NAME", "no tools found")

    def test_an_option_before_the_name_is_a_fault(self):
        self.assert_usage_fault(self.tent("--verbose", "echo"), "after its name")

    def test_help_and_version_go_to_standard_output(self):
        self.add_tool(self.in_path, "tent-bench", "")
        for option in ("--help", "-h"):
            result = self.tent(option)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("usage: tent NAME", result.stdout)
            self.assertIn("tools: bench\n", result.stdout)
        result = self.tent("--version")
        self.assertRegex(result.stdout, r"^tent \d+\.\d+\.\d+\n")
        self.assertEqual(result.returncode, 0)

    def test_a_tool_that_cannot_be_run_is_an_error_of_the_environment(self):
        self.add_tool(self.beside, "tent-broken", "#!/no/such/interpreter\n")
        result = self.tent("broken")
        self.assertEqual(result.returncode, 4)
        self.assertIn("cannot run", result.stderr)

    def test_output_that_cannot_be_written_is_not_success(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = self.tent("--help", stdout=full)
        self.assertEqual(result.returncode, 4)
        self.assertIn("No space left", result.stderr)


if __name__ == "__main__":
    unittest.main()
