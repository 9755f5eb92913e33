"""What the tests of tent-abi-check share: the tool, and copies of the library that are built with a change.

    TEST TENT_ABI_CHECK LIBRARY BUILD_FOLDER SOURCE_DIR
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL, LIBRARY, BUILD, SOURCE = (Path(sys.argv.pop(1)).resolve() for _ in range(4))
BASELINE = SOURCE / "tests/abi/baseline/libtent.so.1-x86_64.json"
CLIENTS = SOURCE / "tests/abi/clients"
LEGACY_INCLUDE = SOURCE / "tests/abi/legacy"
HEADER = "include/tent/transfer_engine.h"

# What answers when such a copy is asked for its version; everything else of it is only looked at.
STUB = """\
#include <tent/transfer_engine.h>
uint32_t tent_get_api_version(void) { return TENT_API_VERSION; }
int tent_get_request_schema_info(uint32_t schema, size_t* minimum, size_t* known) {
  if (schema != 1) return TENT_ERROR_UNSUPPORTED_SCHEMA;
  if (minimum) *minimum = offsetof(struct tent_request_v1, intent_type);
  if (known) *known = KNOWN_SIZE;
  return TENT_OK;
}
int tent_stub(void) { return -1; }
"""


def run(*command, **options):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=120, **options)


def must(*command, **options):
    result = run(*command, **options)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{result.stderr}{result.stdout}")
    return result.stdout


def edited(text, edits):
    """`text` after edits of (old, new), each of which must be there once."""
    for old, new in edits:
        if text.count(old) != 1:
            raise AssertionError(f"{text.count(old)} times in the text, not once: {old!r}")
        text = text.replace(old, new)
    return text


class Copy:
    """The header, the symbol map and sources of the library in a folder of their own, with a change."""

    def __init__(self, root, header=(), symbol_map=()):
        self.root = Path(root)
        (self.root / "include/tent").mkdir(parents=True)
        self.header = self.root / HEADER
        self.header.write_text(edited((SOURCE / "lib" / HEADER).read_text(), header))
        self.map = self.root / "tent.map"
        self.map.write_text(edited((SOURCE / "lib/abi/tent.map").read_text(), symbol_map))
        self.library = self.root / "libtent.so"

    def functions(self):
        return [name for name in re.findall(r"\btent_\w+(?=;)", self.map.read_text())]

    def describe(self):
        """The object that a library carries, made of this copy's header as the build makes it."""
        source = self.root / "description.c"
        source.write_text(must("awk", "-f", SOURCE / "lib/abi/describe.awk", self.header))
        must("cc", "-g", "-O2", "-fPIC", "-fno-eliminate-unused-debug-types", "-I", SOURCE / "lib", "-I",
             self.root / "include", "-c", source, "-o", source.with_suffix(".o"))
        return source.with_suffix(".o")

    def build_stub(self, soname="libtent.so.1", known_size="sizeof(struct tent_request_v1)", options=()):
        """A library with the copy's interface, in which only what the tool asks is alive."""
        source = self.root / "stub.c"
        aliases = [f'__asm__(".globl {name}\\n.type {name}, @function\\n.set {name}, tent_stub");\n'
                   for name in self.functions() if name not in ("tent_get_api_version", "tent_get_request_schema_info")]
        source.write_text(STUB + "".join(aliases))
        must("cc", "-O1", "-fPIC", "-shared", f"-DKNOWN_SIZE={known_size}", "-I", self.root / "include", *options, source,
             self.describe(), f"-Wl,-soname,{soname}", f"-Wl,--version-script={self.map}", "-o", self.library)
        return self.library

    def build_real(self, source=None, edits=(), described=True):
        """The library itself with one of its sources changed, and all else as it was built."""
        changed = []
        archive = BUILD / "lib/abi/libtent_abi.a"
        if source is not None:
            copy = self.root / Path(source).name
            copy.write_text(edited((SOURCE / "lib" / source).read_text(), edits))
            changed = [copy.with_suffix(".o")]
            must("c++", "-std=c++20", "-O0", "-fPIC", "-fvisibility=hidden", "-I", SOURCE / "lib", "-I",
                 self.root / "include", "-c", copy, "-o", changed[0])
            if source.startswith("abi/"):
                archive = self.root / "libtent_abi.a"
                shutil.copy(BUILD / "lib/abi/libtent_abi.a", archive)
                must("ar", "d", archive, f"{copy.name}.o")
        others = [path for path in sorted((BUILD / "lib").rglob("libtent_*.a"))
                  if path.name != "libtent_abi.a" and "fake" not in path.name]
        description = [self.describe()] if described else []
        must("c++", "-shared", "-o", self.library, *description, *changed, "-Wl,--whole-archive", archive,
             "-Wl,--no-whole-archive", "-Wl,--start-group", *others, "-Wl,--end-group", *libraries_of(LIBRARY), "-pthread",
             "-Wl,-soname,libtent.so.1", f"-Wl,--version-script={self.map}", "-Wl,--no-undefined")
        return self.library


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def check(self, *arguments, **options):
        return run(TOOL, *arguments, **options)

    def copy(self, name="copy", **changes):
        return Copy(self.root / name, **changes)

    def client(self, source, include, library, *options):
        """A client linked with a library by its soname alone, so that it takes the one it is given."""
        program = self.root / Path(source).stem
        must("cc", "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-I", include, *options, CLIENTS / source, library, "-ldl",
             "-o", program)
        return program


def libraries_of(library):
    """The linker's arguments for what a library needs of others."""
    return [f"-l:{name}" for name in re.findall(r"NEEDED.*\[([^]]+)\]", must("readelf", "-d", library))
            if name.startswith(("libfmt", "libcrypto", "libssl"))]


def skip_without_abidw():
    if shutil.which("abidw") is None:
        print("skipped: abidw is not installed (apt-get install abigail-tools)")
        sys.exit(77)


def environment(**changes):
    return {**os.environ, **changes}
