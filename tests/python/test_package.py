"""The package as others get it: its types hold, and it installs and runs by CMake and by pip."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tent import _tent

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ["TENT_BUILD_DIR"])
CLIENT = """
import pathlib, sys, tent
assert pathlib.Path(tent.__file__).is_relative_to(sys.argv[1]), tent.__file__
with tent.TransferEngine() as target, tent.TransferEngine() as engine, target.allocate_memory_guard(64) as base:
    tent.transfer(b"7" * 64, tent.Remote(target.get_segment_name(), base), engine=engine).result(30)
print("moved")
"""


def run(*command, **changes):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=280, check=False,
                          env={**environment, **changes})
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_types_hold(tmp_path):
    """Strictly, in the package and in programs that use it; and mypy finds what is wrong in one."""
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", BUILD / "tests/python/mypy"]
    run(*mypy, ROOT / "lib/python/tent", *sorted((ROOT / "lib/python/examples").glob("*.py")),
        MYPYPATH=str(ROOT / "lib/python"))
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import tent\ntent.transfer(b'', tent.Remote('a', 0), intent_type=1)\n"
                     "tent.Request(0, 1, 2, 3, 4)\nmoved: str = tent.transfer(b'', tent.Remote('a', 0)).result()\n")
    found = subprocess.run([*mypy, wrong], capture_output=True, text=True, check=False,
                           env={**os.environ, "MYPYPATH": str(ROOT / "lib/python")})
    assert re.findall(r"wrong\.py:(\d+): error", found.stdout) == ["2", "3", "4"], found.stdout


def arguments_of(function):
    """The names of a bound function's arguments, of each of its forms."""
    return [re.findall(r"(?:\(|, )(\w+): ", line.split(" -> ")[0]) for line in (function.__doc__ or "").splitlines()
            if re.match(r"^(\d+\. )?\w+\(.*\) -> ", line)]


def test_the_stub_has_what_the_extension_has():
    stub = ast.parse((ROOT / "lib/python/tent/_tent.pyi").read_text())
    public = {name for name in vars(_tent) if not name.startswith("_")}
    declared = {}
    for node in stub.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            declared[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            declared[node.target.id] = node
    assert set(declared) == public
    compared = 0
    for kind in (node for node in declared.values() if isinstance(node, ast.ClassDef)):
        bound = getattr(_tent, kind.name)
        functions = {node.name: node for node in kind.body if isinstance(node, ast.FunctionDef)}
        fields = {node.target.id for node in kind.body if isinstance(node, ast.AnnAssign)}
        assert {name for name in vars(bound) if not name.startswith("_")} == (set(functions) | fields) - {"__init__"}
        for name, node in functions.items():
            if name != "__init__":  # what help() shows is what editors show
                declared_doc = (ast.get_docstring(node) or "").replace("\n", " ")
                assert declared_doc in (getattr(bound, name).__doc__ or ""), name
            forms = arguments_of(getattr(bound, name)) if name == "__init__" or not node.decorator_list else []
            named = [argument.arg for argument in node.args.args + node.args.kwonlyargs]
            assert not forms or named in forms or named == sorted(forms, key=len)[-1], (kind.name, name, forms)
            compared += bool(forms)
    assert compared > 30


def test_cmake_installs_it(tmp_path):
    for component in ("python", "library"):
        run("cmake", "--install", BUILD, "--prefix", tmp_path, "--component", component)
    [package] = tmp_path.rglob("tent/__init__.py")
    run(sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", tmp_path)
    assert run(tmp_path / "bin/python", "-B", "-c", CLIENT, package.parent) == "moved\n"


@pytest.fixture(scope="session")
def venv(tmp_path_factory):
    """One that pip has installed the package into, from what Debian ships alone."""
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--system-site-packages", folder)
    # What was compiled already need not be compiled again; without this variable pip has it built by itself.
    run(folder / "bin/pip", "install", "--no-build-isolation", "--no-index", "--disable-pip-version-check", ROOT,
        TENT_BUILD_DIR=str(BUILD))
    return folder


def test_pip_installs_it(venv):
    assert run(venv / "bin/python", "-B", "-c", CLIENT, venv) == "moved\n"
    listed = run(venv / "bin/pip", "show", "--files", "tent-intent")
    assert "libtent.so.1" in listed and "_tent.pyi" in listed and "py.typed" in listed


def test_the_installed_module_passes_the_tests(venv):
    """The tests of transfers, once more with what was installed."""
    run(venv / "bin/python", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider",
        ROOT / "tests/python/test_transfer.py", XDG_STATE_HOME=os.environ.get("XDG_STATE_HOME", str(venv / "state")))
