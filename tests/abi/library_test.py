#!/usr/bin/env python3
"""libtent.so as programs of others see it: its symbols, its header by each standard and word size, old and new clients.

    library_test.py LIBRARY INCLUDE_FOLDER SYMBOL_MAP

Compilers that are not installed are skipped, with what to install.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLIENTS = HERE / "clients"
LEGACY_INCLUDE = HERE / "legacy"
LIBRARY, INCLUDE, SYMBOL_MAP = (Path(argument).resolve() for argument in sys.argv[1:4])
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


def environment_for_clients():
    """A sanitized library is loaded by clients that are not: its runtime has to come first."""
    linked = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True, check=True).stdout
    runtimes = re.findall(r"=> (\S+/lib[at]san\.so\S*)", linked)
    return {**os.environ, "LD_PRELOAD": " ".join(runtimes)} if runtimes else dict(os.environ)


class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def compiler(self, name, package):
        if shutil.which(name) is None:
            self.skipTest(f"{name} is missing: apt-get install {package}")
        return name

    def run_ok(self, *command, **options):
        result = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, cwd=self.root,
                                timeout=120, **options)
        self.assertEqual(result.returncode, 0, f"{' '.join(map(str, command))}\n{result.stderr}{result.stdout}")
        return result.stdout

    def client(self, source, *options, compiler="gcc", include=INCLUDE, libraries=None):
        program = self.root / Path(source).stem
        linked = [LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"] if libraries is None else libraries
        self.run_ok(compiler, "-std=c99", "-D_POSIX_C_SOURCE=200809L", *STRICT, "-I", include, *options,
                    CLIENTS / source, *linked, "-o", program)
        return program

    def run_client(self, program, *arguments):
        return self.run_ok(program, *arguments, env=environment_for_clients())

    # ---- symbols

    def exported(self):
        lines = self.run_ok("nm", "--dynamic", "--defined-only", LIBRARY).splitlines()
        return {line.split()[-1] for line in lines if line.split()[-2] != "A"}

    def test_the_library_exports_what_its_map_says_and_nothing_else(self):
        stanzas = re.findall(r"(?s)^(TENT_\S+) \{(.*?)\}", SYMBOL_MAP.read_text(), re.M)
        expected = {f"{name}@@{stanza}" for stanza, body in stanzas for name in re.findall(r"\btent_\w+(?=;)", body)}
        self.assertEqual(self.exported(), expected)

    def test_the_legacy_functions_are_33(self):
        names = {name for name in self.exported() if name.endswith("@@TENT_0")}
        self.assertEqual(len(names), 33)
        declared = re.findall(r"\b(tent_\w+)\(", (LEGACY_INCLUDE / "tent/transfer_engine.h").read_text())
        self.assertEqual({name.split("@")[0] for name in names}, set(declared))

    def test_it_has_a_soname(self):
        self.assertRegex(self.run_ok("readelf", "-d", LIBRARY), r"SONAME.*\[libtent\.so\.1\]")

    # ---- the header

    def test_the_header_compiles_alone_by_each_standard(self):
        source = self.root / "alone.c"
        source.write_text("#include <tent/transfer_engine.h>\n"
                          "struct tent_request_v1 request = TENT_REQUEST_V1_INIT;\n"
                          "tent_result_t result = TENT_RESULT_INIT;\n"
                          "tent_submit_options_t submit = TENT_SUBMIT_OPTIONS_INIT;\n"
                          "tent_explain_options_t explain = TENT_EXPLAIN_OPTIONS_INIT;\n")
        for compiler, package in (("gcc", "gcc"), ("clang-14", "clang-14")):
            for language, standard in (("c", "c99"), ("c", "c11"), ("c++", "c++11"), ("c++", "c++20")):
                with self.subTest(compiler=compiler, standard=standard):
                    self.run_ok(self.compiler(compiler, package), "-x", language, f"-std={standard}", *STRICT,
                                "-Wconversion", "-I", INCLUDE, "-c", source, "-o", "/dev/null")

    def test_the_layouts_are_those_of_each_platform(self):
        for command, package in ((["gcc"], "gcc"), (["gcc-12", "-m32"], "gcc-12-multilib"),
                                 (["aarch64-linux-gnu-gcc-12"], "gcc-12-aarch64-linux-gnu"),
                                 (["arm-linux-gnueabihf-gcc-12"], "gcc-12-arm-linux-gnueabihf")):
            with self.subTest(compiler=command):
                self.compiler(command[0], package)
                if command[-1] == "-m32" and not Path("/usr/lib/gcc/x86_64-linux-gnu/12/32").is_dir():
                    self.skipTest("apt-get install gcc-12-multilib")
                # No libc of the platform is needed to compile.
                self.run_ok(*command, "-std=c11", "-ffreestanding", "-nostdlib", *STRICT, "-I", INCLUDE, "-c",
                            CLIENTS / "layout.c", "-o", "/dev/null")

    # ---- old and new

    def test_an_old_client_runs_with_this_library(self):
        for compiler, package in (("gcc", "gcc"), ("clang-14", "clang-14")):
            with self.subTest(compiler=compiler):
                program = self.client("old_client.c", compiler=self.compiler(compiler, package), include=LEGACY_INCLUDE)
                self.assertEqual(self.run_client(program), "old client: moved\n")

    def test_an_old_client_compiles_with_the_new_header(self):
        self.assertEqual(self.run_client(self.client("old_client.c")), "old client: moved\n")

    def test_a_new_client_runs_with_this_library(self):
        self.assertIn("new client: ", self.run_client(self.client("new_client.c")))

    def test_the_three_cases_are_told_apart(self):
        program = self.client("discovering_client.c", libraries=["-ldl"])
        self.assertEqual(self.run_client(program, LIBRARY),
                         "schema 2 unsupported: use schema 1\nschema 1: 48 to 88 bytes\n"
                         "request invalid: an unknown opcode\n")

    def stub(self, *options, compiler="gcc"):
        library = self.root / "libtent-stub.so"
        self.run_ok(compiler, "-std=c99", *options, *STRICT, "-I", INCLUDE, "-shared", "-fPIC",
                    CLIENTS / "stub_library.c", "-o", library)
        return library

    def test_a_new_client_with_a_library_from_before_v1(self):
        program = self.client("discovering_client.c", libraries=["-ldl"])
        self.assertEqual(self.run_ok(program, self.stub()), "symbol unavailable: use tent_submit\n")

    def test_a_32_bit_client_with_a_stub_library(self):
        if not Path("/usr/lib/gcc/x86_64-linux-gnu/12/32").is_dir():
            self.skipTest("apt-get install gcc-12-multilib")
        program = self.client("discovering_client.c", "-m32", compiler="gcc-12", libraries=["-ldl"])
        self.assertEqual(self.run_ok(program, self.stub("-m32", "-DSTUB_V1", compiler="gcc-12")),
                         "schema 2 unsupported: use schema 1\nschema 1: 44 to 80 bytes\n"
                         "request invalid: an unknown opcode\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
