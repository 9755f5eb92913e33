"""What the tests of tent-explain share. Takes TENT_EXPLAIN and SOURCE_DIR off the front of the command line."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXPLAIN = Path(sys.argv.pop(1)).resolve()
SOURCE = Path(sys.argv.pop(1)).resolve()
CORPUS = SOURCE / "corpus"
FAULT = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<pointer>/[^:]*): (?P<message>.+)$")
GOOD = '{"name":"good","request":{"length":4096}}'


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, content):
        path = self.root / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def explain(self, *arguments, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        if "input" in options:
            del options["stdin"]
        return subprocess.run([EXPLAIN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False, cwd=self.root, timeout=120, **options)

    def one_fault(self, result, file, line=None, column=None, text=""):
        """The single fault that was printed; the exit code must be the one of bad input."""
        self.assertEqual(result.returncode, 3, result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        fault = FAULT.match(lines[0])
        self.assertIsNotNone(fault, lines[0])
        self.assertEqual(fault["file"], str(file))
        if line is not None:
            self.assertEqual((int(fault["line"]), int(fault["column"])), (line, column), lines[0])
        self.assertIn(text, fault["message"])
        return fault
