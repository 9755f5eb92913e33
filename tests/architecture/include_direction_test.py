#!/usr/bin/env python3
"""include_direction.py finds what it is for: each fault is made in a tree of its own."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECKER = Path(__file__).with_name("include_direction.py")


class IncludeDirection(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "lib").mkdir()
        (self.root / "tools").mkdir()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def check(self):
        return subprocess.run([sys.executable, "-B", CHECKER, self.root], capture_output=True, text=True, check=False)

    def assert_clean(self):
        result = self.check()
        self.assertEqual((result.stdout, result.returncode), ("", 0))

    def assert_fault(self, expected):
        result = self.check()
        self.assertIn(expected, result.stdout)
        self.assertEqual(result.returncode, 1)

    def test_includes_that_point_one_way_pass(self):
        self.write("lib/base/error.h", "#include <string>\n")
        self.write("lib/intent/values.h", '#include "base/error.h"\n#include "intent/names.h"\n')
        self.write("lib/plan/plan.cc", '#include "plan/plan.h"\n#include "policy/policy.h"\n#include <fmt/format.h>\n')
        self.write("lib/engine/engine.cc", '#include "transport/transport.h"\n#include "plan/plan.h"\n')
        self.write("tools/tent-explain/main.cc",
                   '#include "options.h"\n#include "common/exit.h"\n#include "report/text.h"\n')
        self.write("tools/tent-explain/options.h", "")
        self.write("tools/tent-bench/main.cc", '#include "engine/engine.h"\n')
        self.assert_clean()

    def test_a_backwards_include_fails_with_its_place(self):
        self.write("lib/intent/values.h", '#include <string>\n  #  include "plan/plan.h"\n')
        self.assert_fault('lib/intent/values.h:2: intent must not include plan: "plan/plan.h"')

    def test_a_backwards_include_in_angle_brackets_does_not_slip_through(self):
        self.write("lib/base/error.h", "#include <intent/values.h>\n")
        self.assert_fault("lib/base/error.h:1: <intent/values.h> is a room of ours")

    def test_a_source_includes_its_own_header_first(self):
        self.write("lib/base/text.h", "#include <string>\n")
        self.write("lib/base/text.cc", '#include "base/text.h"\n#include <vector>\n')
        self.write("lib/base/alone.cc", "#include <vector>\n")
        self.assert_clean()
        self.write("lib/base/text.cc", '#include <vector>\n#include "base/text.h"\n')
        self.assert_fault('lib/base/text.cc:1: "base/text.h" is included first')

    def test_transport_sees_base_alone(self):
        self.write("lib/transport/tcp/tcp.cc", '#include "plan/plan.h"\n')
        self.assert_fault("transport must not include plan")

    def test_a_transport_does_not_see_another(self):
        self.write("lib/transport/tcp/tcp.cc", '#include "transport/tcp/frame.h"\n#include "transport/backend.h"\n')
        self.write("lib/engine/backends.cc", '#include "transport/tcp/tcp.h"\n')
        self.assert_clean()
        self.write("lib/transport/shm/shm.cc", '#include "transport/tcp/frame.h"\n')
        self.assert_fault('only transport/tcp may include its insides: "transport/tcp/frame.h"')
        self.write("lib/transport/shm/shm.cc", "")
        self.write("lib/transport/backend.h", '#include "transport/tcp/frame.h"\n')
        self.assert_fault("only transport/tcp may include its insides")

    def test_the_engine_does_not_see_reports(self):
        self.write("lib/engine/engine.cc", '#include "report/text.h"\n')
        self.assert_fault("engine must not include report")

    def test_installed_headers_stand_alone(self):
        self.write("lib/include/tent/a.h", '#include "tent/b.h"\n')
        self.write("lib/abi/entry.cc", '#include "tent/a.h"\n')
        self.assert_clean()
        self.write("lib/include/tent/b.h", '#include "base/error.h"\n')
        self.assert_fault("lib/include/tent/b.h:1: tent must not include base")

    def test_an_unknown_room_fails(self):
        self.write("lib/helpers/helpers.h", "")
        self.assert_fault("unknown room helpers")

    def test_an_include_of_no_room_fails(self):
        self.write("lib/base/error.h", '#include "nlohmann/json.hpp"\n#include "clock.h"\n')
        self.assert_fault("nlohmann is not a room")
        self.assert_fault('lib/base/error.h:2: "clock.h" names no room')

    def test_what_explains_does_not_include_what_moves_bytes(self):
        for tool in ("tent-explain", "common"):
            for room in ("engine", "transport", "abi"):
                with self.subTest(tool=tool, room=room):
                    self.write(f"tools/{tool}/main.cc", f'#include "{room}/x.h"\n')
                    self.assert_fault(f"{tool} must not include {room}")

    def test_a_tool_does_not_include_another(self):
        self.write("tools/tent-bench/main.cc", '#include "tent-explain/options.h"\n')
        self.assert_fault("tent-explain is not a room")

    def test_a_backwards_link_fails(self):
        self.write("lib/base/CMakeLists.txt", "tent_library(base SOURCES a.cc DEPS tent::intent)  # tent::plan\n")
        self.assert_fault("lib/base/CMakeLists.txt:1: base must not link intent")
        self.write("lib/base/CMakeLists.txt", "")
        self.write("tools/tent-explain/CMakeLists.txt", "tent_tool(tent-explain SOURCES main.cc\n  DEPS tent_engine)\n")
        self.assert_fault("tools/tent-explain/CMakeLists.txt:2: tent-explain must not link engine")


if __name__ == "__main__":
    unittest.main()
