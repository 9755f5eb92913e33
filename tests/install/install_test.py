#!/usr/bin/env python3
"""What is installed is found by programs of others, in another folder, by pkg-config and by CMake.

    install_test.py BUILD_FOLDER CLIENTS_FOLDER
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD, CLIENTS = (Path(argument).resolve() for argument in sys.argv[1:3])

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(client LANGUAGES C)
find_package(tent REQUIRED)
add_executable(client {source})
target_link_libraries(client PRIVATE tent::tent)
"""


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

    def run_client(self, program):
        linked = run("ldd", self.libraries / "libtent.so")
        sanitizers = " ".join(re.findall(r"=> (\S+/lib[at]san\.so\S*)", linked))
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.libraries), "LD_PRELOAD": sanitizers}
        self.assertIn("new client: ", run(program, env=environment))

    def test_pkg_config_finds_it(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.libraries / "pkgconfig")}
        # The prefix is the one that was configured; a package is built for the place where it is installed.
        flags = run("pkg-config", f"--define-variable=prefix={self.prefix}", "--cflags", "--libs", "tent",
                    env=environment).split()
        run("cc", CLIENTS / "new_client.c", *flags, "-o", self.root / "by-pkg-config")
        self.run_client(self.root / "by-pkg-config")

    def test_cmake_finds_it(self):
        source = self.root / "project"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(PROJECT.format(source=CLIENTS / "new_client.c"))
        run("cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", source / "build")
        self.run_client(source / "build" / "client")

    def test_only_the_public_headers_are_installed(self):
        headers = [str(p.relative_to(self.prefix)) for p in self.prefix.rglob("*.h")]
        self.assertEqual(headers, ["include/tent/transfer_engine.h"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
