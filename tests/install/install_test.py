#!/usr/bin/env python3
"""What is installed is found by programs of others, in another folder, by pkg-config and by CMake.

    install_test.py BUILD_FOLDER CLIENTS_FOLDER CPP_CLIENT
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD, CLIENTS, CPP_CLIENT = (Path(argument).resolve() for argument in sys.argv[1:4])

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(client LANGUAGES C CXX)
find_package(tent REQUIRED)
add_executable(client {source})
target_link_libraries(client PRIVATE {target})
"""

STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wconversion", "-Wshadow"]
SANITIZED = "TENT_SANITIZE:STRING=\n" not in (BUILD / "CMakeCache.txt").read_text()


def run(*command, **options):
    result = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=300, **options)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{result.stderr}{result.stdout}")
    return result.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name)
        cls.prefix = cls.root / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.libraries = next(cls.prefix.rglob("libtent.so")).parent

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_client(self, program, expected):
        linked = run("ldd", self.libraries / "libtent.so")
        sanitizers = " ".join(re.findall(r"=> (\S+/lib[at]san\.so\S*)", linked))
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.libraries), "LD_PRELOAD": sanitizers}
        self.assertIn(expected, run(program, env=environment))

    def flags_of(self, package):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.libraries / "pkgconfig")}
        return run("pkg-config", "--cflags", "--libs", package, env=environment).split()

    def build_with_cmake(self, name, source, target):
        folder = self.root / name
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(PROJECT.format(source=source, target=target))
        run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", folder / "build")
        return folder / "build" / "client"

    def test_pkg_config_finds_it(self):
        run("cc", CLIENTS / "new_client.c", *self.flags_of("tent"), "-o", self.root / "by-pkg-config")
        self.run_client(self.root / "by-pkg-config", "new client: ")

    def test_cmake_finds_it(self):
        self.run_client(self.build_with_cmake("c", CLIENTS / "new_client.c", "tent::tent"), "new client: ")

    @unittest.skipIf(SANITIZED, "the static library needs the sanitizers' runtime, which its users do not link")
    def test_pkg_config_finds_the_cpp_api(self):
        program = self.root / "cpp-by-pkg-config"
        run("c++", "-std=c++17", *STRICT, CPP_CLIENT, *self.flags_of("tent-cpp"), "-o", program)
        self.run_client(program, "C++ client: moved")

    @unittest.skipIf(SANITIZED, "the static library needs the sanitizers' runtime, which its users do not link")
    def test_cmake_finds_the_cpp_api(self):
        self.run_client(self.build_with_cmake("cpp", CPP_CLIENT, "tent::cpp"), "C++ client: moved")

    def test_the_cpp_headers_compile_alone_by_each_compiler_and_standard(self):
        for header in ("engine.h", "status.h", "types.h"):
            source = self.root / "alone.cc"
            source.write_text(f"#include <tent/{header}>\n")
            for compiler in ("g++", "clang++-14"):
                for standard in ("c++17", "c++20"):
                    with self.subTest(header=header, compiler=compiler, standard=standard):
                        run(compiler, f"-std={standard}", *STRICT, "-I", self.prefix / "include", "-fsyntax-only", source)

    def test_only_the_public_headers_are_installed(self):
        headers = [str(p.relative_to(self.prefix)) for p in self.prefix.rglob("*.h")]
        self.assertEqual(sorted(headers), [f"include/tent/{name}.h"
                                           for name in ("engine", "status", "transfer_engine", "types")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
