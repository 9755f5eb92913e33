"""Lets pip build the Python package: CMake does it, and what it built is put into the wheel.

TENT_BUILD_DIR names a folder that CMake has configured already, with TENT_BUILD_PYTHON; without it, that is
build/python, which is configured here.
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


class BuildByCMake(build_ext):
    def build_extension(self, ext):
        build = Path(os.environ.get("TENT_BUILD_DIR", ROOT / "build/python"))
        if "TENT_BUILD_DIR" not in os.environ:
            run("cmake", "--preset", "release", "-S", ROOT, "-B", build, "-DTENT_BUILD_PYTHON=ON",
                "-DTENT_BUILD_TESTS=OFF", "-DTENT_BUILD_BENCHMARKS=OFF", f"-DPython_EXECUTABLE={sys.executable}",
                "--log-level=WARNING")
        run("cmake", "--build", build, "--target", "tent_python")
        package = Path(self.get_ext_fullpath(ext.name)).resolve().parent
        staged = Path(self.build_temp).resolve() / "staged"
        for component in ("python", "library"):
            run("cmake", "--install", build, "--prefix", staged, "--component", component)
        for pattern in ("_tent.*.so", "libtent.so.1"):
            [built] = staged.rglob(pattern)
            self.copy_file(str(built), str(package / built.name))


setup(ext_modules=[Extension("tent._tent", [])], cmdclass={"build_ext": BuildByCMake})
