#!/usr/bin/env python3
"""one_definition.py finds what it is for: each fault is made in a tree of its own."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECKER = Path(__file__).with_name("one_definition.py")


class OneDefinition(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("lib", "tools/common", "tools/tent-a", "tools/tent-b"):
            (self.root / name).mkdir(parents=True)

    def write(self, path, *types, namespace="tent", inner=""):
        lines = [f"namespace {namespace} {{", *([inner] if inner else []), *types]
        lines += ["}  // namespace"] * (2 if inner else 1)
        (self.root / path).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def check(self):
        return subprocess.run([sys.executable, "-B", CHECKER, self.root], capture_output=True, text=True, check=False)

    def assert_clean(self):
        result = self.check()
        self.assertEqual((result.stdout, result.stderr, result.returncode), ("", "", 0))

    def assert_fault(self, expected):
        result = self.check()
        self.assertIn(expected, result.stdout)
        self.assertEqual(result.returncode, 1)

    def test_a_tool_that_names_a_type_as_the_library_does(self):
        self.write("lib/peer.h", "class Peer : public Base {", "};")
        self.write("tools/tent-a/peers.h", "struct Peer {", "};")
        self.assert_fault("tools/tent-a/peers.h:2: tent::Peer is defined in lib/peer.h:2 too")

    def test_two_rooms_of_the_library(self):
        self.write("lib/a.cc", "enum class Kind { kA };")
        self.write("lib/b.h", "enum class Kind : uint8_t {", "};")
        self.assert_fault("lib/b.h:2: tent::Kind")

    def test_a_type_within_another(self):
        self.write("lib/a.cc", "struct Engine::Impl {", "};")
        self.write("lib/b.cc", "struct Engine::Impl final {", "};")
        self.assert_fault("tent::Engine::Impl")

    def test_templates(self):
        self.write("lib/a.h", "template <typename T> struct Box {", "};")
        self.write("lib/b.h", "template <typename T>", "struct Box {", "};")
        self.assert_fault("tent::Box")

    def test_specializations(self):
        self.write("lib/a.h", "template <>", "struct Box<int> {", "};", "template <>", "struct Box<char> {", "};")
        self.assert_clean()
        self.write("lib/b.h", "template <>", "struct Box<int> {", "};")
        self.assert_fault("lib/b.h:3: tent::Box<int> is defined in lib/a.h:3 too")

    def test_names_that_do_not_meet(self):
        self.write("lib/a.h", "struct A;", "struct A {", "};", "enum class B : int;", "struct A make() {", "}")
        self.write("lib/b.cc", "struct B {", "};", inner="namespace {")
        self.write("lib/c.cc", "struct B {", "};", inner="namespace {")
        self.write("lib/d.h", "struct A {", "};", namespace="tent::inner")
        self.write("tools/tent-a/options.h", "struct Options {", "};", namespace="tent::tool")
        self.write("tools/tent-b/options.h", "struct Options {", "};", namespace="tent::tool")
        self.assert_clean()


if __name__ == "__main__":
    unittest.main()
