#!/usr/bin/env python3
"""tent-abi-check as its users meet it: what it refuses, what it prints, and clients of others.

    abi_check_test.py TENT_ABI_CHECK LIBRARY BUILD_FOLDER SOURCE_DIR
"""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from abi_case import BASELINE, LEGACY_INCLUDE, LIBRARY, SOURCE, TOOL, Case, environment, must, run, skip_without_abidw

try:
    from jsonschema import Draft7Validator
except ImportError:
    Draft7Validator = None

HANGS = """
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void hang(void) {
  const char* const mark = getenv("MARK");
  if (mark == NULL) abort();
  FILE* const file = fopen(mark, "w");
  fprintf(file, "%d\\n", (int)getpid());
  fclose(file);
  for (;;) pause();
}
"""


def valid(document, schema):
    if Draft7Validator is None:
        return
    path = SOURCE / f"schemas/{schema}.schema.json"
    Draft7Validator(json.loads(path.read_text())).validate(document)


class Files(Case):
    """What cannot be analysed is never called compatible."""

    def assert_refused(self, path, words, code=3, commands=("run", "dump", "diff", "baseline")):
        calls = {"run": [path], "dump": ["dump", path], "diff": ["diff", BASELINE, path],
                 "baseline": [path, "--baseline", BASELINE]}
        for command in commands:
            with self.subTest(command=command, path=Path(path).name):
                result = self.check(*calls[command])
                self.assertEqual(result.returncode, code, result.stdout + result.stderr)
                self.assertIn(words, result.stderr + result.stdout)
                self.assertNotRegex(result.stdout, r"(?m)^compatible")

    def test_files_that_are_no_library(self):
        empty = self.root / "empty.so"
        empty.touch()
        text = self.root / "text.so"
        text.write_text("no ELF file\n")
        self.assert_refused(self.root / "missing.so", "No such file or directory", commands=("run", "dump", "baseline"))
        self.assert_refused(empty, "is empty", commands=("run", "dump", "baseline"))
        self.assert_refused(text, "is not an ELF file", commands=("run", "dump", "baseline"))
        self.assert_refused(self.root, "is not a regular file", commands=("run", "dump", "baseline"))
        self.assert_refused(text, "is neither a shared library nor a description of one", commands=("diff",))
        self.assert_refused("/bin/true", "is a program, not a shared library")

    def test_a_truncated_library_is_refused_wherever_it_ends(self):
        whole = LIBRARY.read_bytes()
        generator = random.Random(1)
        ends = [1, 16, 63, 64, 65, len(whole) - 1, *(generator.randrange(len(whole)) for _ in range(20))]
        cut = self.root / "cut.so"
        for end in ends:
            cut.write_bytes(whole[:end])
            result = self.check("dump", cut)
            self.assertEqual(result.returncode, 3, f"{end} bytes: {result.stderr}")
            self.assertEqual(result.stdout, "")

    def test_a_library_with_wrong_bytes_does_not_crash_the_tool(self):
        whole = bytearray(self.copy().build_stub().read_bytes())
        generator = random.Random(2)
        broken = self.root / "broken.so"
        for _ in range(60):
            changed = bytearray(whole)
            # In the headers and tables, where an offset may lead anywhere.
            for _ in range(4):
                place = generator.choice([generator.randrange(1024), len(whole) - 1 - generator.randrange(2560)])
                changed[place] = generator.randrange(256)
            broken.write_bytes(changed)
            result = self.check("dump", broken)
            self.assertIn(result.returncode, (0, 3), result.stderr)

    def test_pipes_are_not_waited_for(self):
        pipe = self.root / "pipe"
        os.mkfifo(pipe)
        for arguments in ([LIBRARY, "--baseline", pipe], ["diff", pipe, LIBRARY], ["diff", LIBRARY, pipe],
                          ["dump", LIBRARY, "--update-baseline", pipe], ["layout", pipe]):
            result = self.check(*arguments)
            self.assertEqual(result.returncode, 3, arguments)
            self.assertIn("is not a regular file", result.stderr)
        result = self.check("dump", LIBRARY, "--debug-info-dir", pipe)
        self.assertEqual(result.returncode, 3)
        self.assertIn("is not a folder", result.stderr)

    def test_loading_ends_with_the_timeout(self):
        source = self.root / "hangs.c"
        source.write_text(HANGS)
        began = time.monotonic()
        result = self.check("dump", self.copy().build_stub(options=[source]), "--timeout", "1",
                            env=environment(MARK=str(self.root / "mark")))
        self.assertEqual(result.returncode, 3)
        self.assertIn("did not finish loading: still running after 1 s\n", result.stderr)
        self.assertLess(time.monotonic() - began, 15)

    def test_libraries_for_other_machines(self):
        source = self.root / "other.c"
        source.write_text("int tent_submit(void) { return 0; }\n")
        built = 0
        for compiler, words in ((["aarch64-linux-gnu-gcc-12"], "is for aarch64"), (["gcc-12", "-m32"], "is for i386")):
            library = self.root / "other.so"
            if shutil.which(compiler[0]) and run(*compiler, "-shared", "-nostdlib", "-o", library, source).returncode == 0:
                built += 1
                self.assert_refused(library, words)
        if built == 0:
            self.skipTest("no compiler for another machine: scripts/setup test")

    def test_a_library_without_the_api(self):
        source = self.root / "other.c"
        source.write_text("int other(void) { return 0; }\n")
        must("cc", "-shared", "-fPIC", "-o", self.root / "other.so", source)
        self.assert_refused(self.root / "other.so", "exports no function of the API")

    def test_a_stripped_library_says_which_part_was_not_analysed(self):
        stripped = self.root / "libtent.so"
        must("strip", "-o", stripped, LIBRARY)
        self.assert_refused(stripped, "no debug information", commands=("dump", "diff", "baseline"))
        # Sizes, offsets and constants are still there, and types can be left out by name.
        result = self.check("diff", BASELINE, stripped, "--without-types")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"SKIP  baseline\.types +not asked for")
        self.assertEqual(self.check("layout", stripped).returncode, 0)

    def test_debug_information_in_a_file_of_its_own(self):
        library, debug = self.root / "libtent.so", self.root / "debug" / "libtent.so.debug"
        debug.parent.mkdir()
        must("objcopy", "--only-keep-debug", LIBRARY, debug)
        must("objcopy", "--strip-debug", f"--add-gnu-debuglink={debug}", LIBRARY, library)
        self.assertEqual(self.check("diff", BASELINE, library).returncode, 3)
        result = self.check("diff", BASELINE, library, "--debug-info-dir", debug.parent)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_a_library_that_carries_no_description(self):
        library = self.root / "libtent.so"
        must("objcopy", "--rename-section", ".tent.abi=.other", LIBRARY, library)
        self.assert_refused(library, "carries no description of its header", commands=("dump", "diff", "baseline"))

    def test_a_library_that_dies_when_it_is_loaded(self):
        source = self.root / "hangs.c"
        source.write_text(HANGS)
        self.assert_refused(self.copy().build_stub(options=[source]), "killed by signal 6 (Aborted)",
                            commands=("dump", "diff", "baseline"))

    def test_without_abidw_types_are_a_matter_of_the_environment(self):
        for arguments in (["dump", LIBRARY], ["diff", BASELINE, LIBRARY], [LIBRARY, "--baseline", BASELINE]):
            result = self.check(*arguments, env=environment(PATH="/nowhere"))
            self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
            self.assertIn("apt-get install abigail-tools", result.stderr)
        self.assertEqual(self.check(LIBRARY, env=environment(PATH="/nowhere")).returncode, 0)

    def test_a_check_that_saw_nothing_is_no_success(self):
        # Every function is there and every call fails.
        result = self.check(self.copy().build_stub(), "-q")
        self.assertEqual(result.returncode, 1)
        self.assertIn("tent_segment_name fails on a new engine", result.stdout)


class Intruders(Case):
    """What a library writes or ends in its process is not taken for what the tool has seen there."""

    def intruder(self, text):
        source = self.root / "intruder.c"
        source.write_text("#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
                          f"__attribute__((constructor)) static void act(void) {{ {text} }}\n")
        return self.copy(str(len(list(self.root.iterdir())))).build_stub(options=[source])

    def test_a_verdict_of_its_own(self):
        library = self.intruder('for (int fd = 1; fd < 1024; ++fd) if (fd != 2) write(fd, "PASS\\tall fine\\n", 14); _exit(0);')
        result = self.check(library)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertNotRegex(result.stdout, r"(?m)^PASS")
        self.assertIn("the library ended the process (exit status 0)", result.stdout)

    def test_what_it_prints_is_not_what_it_answers(self):
        library = self.intruder('puts("schema 9 9 9\\nversion unknown\\nPASS\\tx"); fflush(stdout);')
        document = json.loads(self.check("dump", library).stdout)
        self.assertEqual((document["api_version"], document["request_schemas"]),
                         (65537, [{"version": 1, "minimum_size": 48, "known_size": 88}]))

    def test_one_that_ends_the_process_is_not_described(self):
        for text in ("exit(0);", "_exit(0);"):
            library = self.intruder(text)
            for arguments in (["dump", library], ["diff", BASELINE, library], [library, "--baseline", BASELINE]):
                result = self.check(*arguments)
                self.assertEqual(result.returncode, 3, result.stdout)
                self.assertIn("did not finish loading: the library ended the process (exit status 0)\n", result.stderr)

    def test_a_function_that_the_symbol_map_leaves_out(self):
        for name, rule in (("tent_cancel_task", "legacy"), ("tent_batch_fd", "v1")):
            copy = self.copy(name, symbol_map=[(f"    {name};\n", "")])
            library = copy.build_stub()
            words = f"symbol {name}, declared by the header, is not exported"
            for arguments in (["diff", BASELINE, library], [library, "--baseline", BASELINE]):
                result = self.check(*arguments)
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                self.assertIn(words, result.stdout)
            self.assertRegex(result.stdout, rf"(?m)^FAIL  symbols\.{rule} +not exported: {name}$")
            result = self.check("dump", library)
            self.assertEqual(result.returncode, 3)
            self.assertIn(words, result.stderr)


class Lies(Case):
    """A description is not taken for another library's."""

    def patched(self, change):
        """A copy of the library in which `change` has edited the numbers and lines of its description."""
        data = bytearray(LIBRARY.read_bytes())
        start = data.index(b"TENTABI1")
        count, text_bytes = struct.unpack_from("=II", data, start + 8)
        numbers, text = start + 16, start + 16 + 16 * count
        lines = bytes(data[text:text + text_bytes - 1]).decode().splitlines()
        change(data, lambda line: numbers + 16 * lines.index(line), start, text)
        path = self.root / "libtent.so"
        path.write_bytes(data)
        return path

    def assert_refused(self, change, words):
        result = self.check("diff", BASELINE, self.patched(change))
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn(words, result.stderr)

    def test_sizes_and_offsets_that_contradict_the_debug_information(self):
        self.assert_refused(lambda data, at, start, text: struct.pack_into("=Q", data, at("struct tent_request"), 56),
                            "the description that it carries is not of this library: struct tent_request has 56 bytes there "
                            "and 48 by the debug information")
        self.assert_refused(lambda data, at, start, text: struct.pack_into("=Q", data, at("member tent_status status int"), 4),
                            "member 0 of struct tent_status is status at 4 with 4 bytes there, and status at 0")

    def test_names_that_the_debug_information_does_not_have(self):
        def rename(data, at, start, text):
            place = data.index(b"struct tent_status\n", text)
            data[place:place + 18] = b"struct tent_statuz"
            for old in (b"member tent_status ",):
                while (place := data.find(old, text)) >= 0:
                    data[place:place + len(old)] = b"member tent_statuz "

        self.assert_refused(rename, "the debug information has no struct tent_statuz")

    def test_one_that_is_cut_or_garbled(self):
        self.assert_refused(lambda data, at, start, text: struct.pack_into("=I", data, start + 8, 0xffffffff), "is truncated")
        self.assert_refused(lambda data, at, start, text: struct.pack_into("=I", data, start + 12, 0), "is truncated")
        self.assert_refused(lambda data, at, start, text: data.__setitem__(text, ord("x")), "has a line that is none")
        self.assert_refused(lambda data, at, start, text: data.__setitem__(start + 7, ord("9")), "a version that this tool does not know")

    def test_a_description_file_from_which_something_was_taken(self):
        def emptied(key):
            return lambda document: document.__setitem__(key, [])

        def twice(key):
            return lambda document: document[key].append(document[key][0])

        changes = [(emptied(key), f"/{key}: ") for key in ("symbols", "structs", "typedefs", "constants", "macros", "functions",
                                                           "request_schemas")]
        changes += [(twice(key), "is there twice") for key in ("symbols", "structs", "typedefs", "constants", "macros",
                                                               "functions", "request_schemas")]
        changes += [(lambda document: document.__setitem__("api_version", None), "/api_version: tent_get_api_version is exported"),
                    (lambda document: document["structs"].pop(), "/sha256: the content is not what the tool wrote"),
                    (lambda document: document["structs"][0]["members"].pop(), "/sha256: "),
                    (lambda document: document["constants"][3].__setitem__("value", 77), "/sha256: "),
                    (lambda document: document.pop("sha256"), "there is no sha256: the file was edited, or is of an older tool; take")]
        path = self.root / "changed.json"
        for change, words in changes:
            document = json.loads(BASELINE.read_text())
            change(document)
            path.write_text(json.dumps(document))
            result = self.check("diff", path, LIBRARY)
            self.assertEqual(result.returncode, 3, words + result.stdout)
            self.assertIn(words, result.stderr)
        # How it is indented is no change.
        path.write_text(json.dumps(json.loads(BASELINE.read_text()), indent=2))
        self.assertEqual(self.check("diff", path, LIBRARY, "-q").returncode, 0)

    def test_a_description_file_that_is_malformed_is_told_with_its_places(self):
        good = BASELINE.read_text()
        for old, new, words in (('"soname":', '"sonam":', "unknown key \"sonam\""), ('"size":48', '"size":-1', "/structs/0/size"),
                                ('"symbols":[', '"symbols":[{},', "/symbols/0"), ('"offset":8', '"offset":800', "outside the 48 bytes")):
            path = self.root / "bad.json"
            path.write_text(good.replace(old, new, 1))
            result = self.check("diff", path, LIBRARY)
            self.assertEqual(result.returncode, 3, words)
            self.assertRegex(result.stderr, r"(?m)^\S+bad\.json:\d+:\d+: /")
            self.assertIn(words, result.stderr)


class Output(Case):
    def test_the_interface_is_the_stored_baseline_and_what_came_since(self):
        document = json.loads(self.check("diff", BASELINE, LIBRARY, "--format", "json").stdout)
        self.assertEqual([check["reason"] for check in document["checks"] if check["finding"]],
                         ["tent_reload_policy (TENT_1.1) is new"])
        self.assertEqual(document["answer"], "compatible")
        back = self.check("diff", LIBRARY, BASELINE)
        self.assertEqual(back.returncode, 1)
        self.assertIn("tent_reload_policy (TENT_1.1) is not exported any more", back.stdout)

    def test_dump_is_a_description_that_its_schema_allows(self):
        result = self.check("dump", LIBRARY)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        document = json.loads(result.stdout)
        valid(document, "abi-description")
        valid(json.loads(BASELINE.read_text()), "abi-description")
        sizes = {one["name"]: one["size"] for one in document["structs"]}
        self.assertEqual((sizes["tent_request"], sizes["tent_request_v1"], len(sizes)), (48, 88, 14))
        self.assertEqual(len(document["symbols"]), 47)
        self.assertIn({"name": "TENT_ERROR_RUNTIME", "value": -1}, document["constants"])
        self.assertEqual(document["request_schemas"], [{"version": 1, "minimum_size": 48, "known_size": 88}])
        again = self.root / "again.json"
        again.write_text(result.stdout)
        self.assertEqual(self.check("diff", again, LIBRARY).returncode, 0)

    def test_a_baseline_is_written_whole_and_says_what_it_changes(self):
        path = self.root / "baseline.json"
        first = self.check("dump", LIBRARY, "--update-baseline", path)
        self.assertEqual((first.returncode, first.stdout, first.stderr), (0, "", ""))
        kept = path.read_text()
        stripped = self.root / "stripped.so"
        must("strip", "-o", stripped, LIBRARY)
        self.assertEqual(self.check("dump", stripped, "--update-baseline", path).returncode, 3)
        self.assertEqual(path.read_text(), kept)
        changed = self.copy(header=[("#define STATUS_TIMEOUT 5", "#define STATUS_TIMEOUT 55")]).build_stub()
        result = self.check("dump", changed, "--update-baseline", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("constant STATUS_TIMEOUT was 5 and is 55", result.stdout)
        self.assertNotEqual(path.read_text(), kept)
        self.assertEqual(os.listdir(self.root / "copy").count("baseline.json.new"), 0)
        self.assertEqual(self.check("dump", LIBRARY, "--update-baseline", self.root / "no/where.json").returncode, 4)

    def test_a_baseline_with_types_is_not_replaced_by_one_without(self):
        path, stripped = self.root / "baseline.json", self.root / "stripped.so"
        must("strip", "-o", stripped, LIBRARY)
        self.assertEqual(self.check("dump", LIBRARY, "--update-baseline", path).returncode, 0)
        kept = path.read_text()
        result = self.check("dump", stripped, "--without-types", "--update-baseline", path)
        self.assertEqual((result.returncode, path.read_text()), (3, kept))
        self.assertIn("is left as it is: it has types and prototypes", result.stderr)
        other = self.root / "other.json"
        for _ in range(2):
            self.assertEqual(self.check("dump", stripped, "--without-types", "--update-baseline", other).returncode, 0)

    def test_each_format_says_the_same(self):
        broken = self.copy(header=[("#define STATUS_TIMEOUT 5", "#define STATUS_TIMEOUT 55")]).build_stub()
        words = "constant STATUS_TIMEOUT was 5 and is 55"
        text = self.check("diff", BASELINE, broken)
        self.assertIn("not compatible: ", text.stdout)
        document = json.loads(self.check("diff", BASELINE, broken, "--format", "json").stdout)
        valid(document, "abi-report")
        found = next(check["finding"] for check in document["checks"] if words in check["reason"])
        self.assertEqual((found["subject"], found["old"], found["new"]), ("constant STATUS_TIMEOUT", "5", "55"))
        suite = ElementTree.fromstring(self.check("diff", BASELINE, broken, "--format", "junit").stdout).find("testsuite")
        failures = suite.findall("testcase/failure")
        self.assertEqual(len(failures), int(suite.get("failures")))
        self.assertEqual(len(failures), document["summary"]["failed"])
        self.assertTrue(any(words in failure.get("message") for failure in failures))
        github = self.check("diff", BASELINE, broken, "--format", "github").stdout
        self.assertRegex(github, r"(?m)^::error title=ABI%3A baseline\.constants\.constant_changed::constant STATUS_TIMEOUT was 5")
        self.assertEqual(github.count("::error "), document["summary"]["failed"])
        for arguments in (["--format", "json"], ["--format", "junit"]):
            run_report = self.check(LIBRARY, *arguments)
            self.assertEqual(run_report.returncode, 0, run_report.stderr)
        valid(json.loads(self.check(LIBRARY, "--format", "json").stdout), "abi-report")

    def test_a_refusal_is_a_report_too(self):
        missing, cut = self.root / "missing.so", self.root / "cut.json"
        cut.write_text(BASELINE.read_text().replace('"size":48', '"size":49', 1))
        baseline = self.root / "baseline.json"
        for arguments, words in (([missing], "missing.so cannot be read"), (["diff", BASELINE, missing], "missing.so"),
                                 ([LIBRARY, "--baseline", cut], "/sha256: the content is not what the tool wrote"),
                                 (["dump", missing, "--update-baseline", baseline], "missing.so cannot be read")):
            document = json.loads(self.check(*arguments, "--format", "json").stdout)
            valid(document, "abi-report")
            self.assertEqual((document["answer"], document["summary"]["not_analysed"]), ("not analysed", 1))
            self.assertIn(words, document["checks"][0]["reason"])
            suite = ElementTree.fromstring(self.check(*arguments, "--format", "junit").stdout).find("testsuite")
            self.assertEqual(suite.get("errors"), "1")
            self.assertIn(words, suite.find("testcase/error").get("message"))
            github = self.check(*arguments, "--format", "github")
            self.assertEqual(github.returncode, 3)
            self.assertRegex(github.stdout, r"(?m)^::error title=ABI%3A input::")
        self.assertFalse(baseline.exists())

    def test_a_library_is_the_file_of_that_name_and_none_that_the_loader_finds(self):
        for arguments in (["dump", LIBRARY.name], [LIBRARY.name, "-q"], ["diff", BASELINE, LIBRARY.name]):
            result = self.check(*arguments, cwd=LIBRARY.parent, env=environment(LD_LIBRARY_PATH=""))
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_layout_shows_the_numbers_of_the_header(self):
        text = self.check("layout").stdout
        self.assertIn("struct tent_request_v1: 88 bytes, aligned to 8", text)
        self.assertRegex(text, r"(?m)^ +48 +4  intent_type +int32_t$")
        self.assertRegex(text, r"(?m)^ +4 +4  \(padding\)$")
        for path in (LIBRARY, BASELINE):
            self.assertIn("request schema 1: 48 to 88 bytes", self.check("layout", path).stdout)
        self.assertIn("TENT_ERROR_DEADLINE = -8", self.check("layout", "-v").stdout)

    def test_wrong_usage(self):
        for arguments in ([], ["diff", LIBRARY], ["--format", "yaml", LIBRARY], [LIBRARY, "--timeout", "0"],
                          [LIBRARY, "--old-library", LIBRARY], ["dump", LIBRARY, "--format", "junit"]):
            self.assertEqual(self.check(*arguments).returncode, 2, arguments)
        self.assertIn("LIB", self.check().stderr)
        version = self.check("--version")
        self.assertIn("abidw: ", version.stdout)
        self.assertIn("libelf", version.stdout)
        self.assertEqual(self.check("--help").returncode, 0)

    def test_an_option_that_is_empty_is_not_one_that_was_left_out(self):
        for option in ("--baseline", "--old-library", "--old-client", "--new-client", "--debug-info-dir"):
            for arguments in ([LIBRARY, option, ""], [LIBRARY, option + "="], [option + "=", LIBRARY]):
                result = self.check(*arguments)
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                self.assertIn(f"{option}: it is empty", result.stderr)
        result = self.check("dump", LIBRARY, "--update-baseline", "")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--update-baseline: it is empty", result.stderr)
        self.assertEqual((result.stdout, self.check("layout", "").returncode), ("", 2))

    def test_a_timeout_is_a_number_of_seconds(self):
        for text in ("nan", "inf", "-inf", "1e9", "0", "5s", ""):
            result = self.check(LIBRARY, f"--timeout={text}")
            self.assertEqual(result.returncode, 2, text)
            self.assertIn("is not a number of seconds from 0.1 to 3600", result.stderr)

    def test_an_interruption_ends_the_child_and_says_what_was_done(self):
        source = self.root / "hangs.c"
        source.write_text(HANGS)
        library = self.copy().build_stub(options=[source])
        mark = self.root / "mark"
        with subprocess.Popen([TOOL, library, "--timeout", "100", "--format", "json"], stdout=subprocess.PIPE, text=True,
                              env=environment(MARK=str(mark))) as process:
            until = time.monotonic() + 60
            while not (mark.exists() and mark.read_text().endswith("\n")) and time.monotonic() < until:
                time.sleep(0.01)
            child = int(mark.read_text())
            process.send_signal(signal.SIGINT)
            document = json.loads(process.stdout.read())
            self.assertEqual(process.wait(timeout=60), 130)
        self.assertEqual((document["answer"], document["summary"]["interrupted"]), ("interrupted", True))
        with self.assertRaises(ProcessLookupError):
            os.kill(child, 0)


class Clients(Case):
    """Old and new clients with old and new libraries, in both directions."""

    def old_library(self):
        """The library with the symbols that it had before v1, and no other."""
        text = (SOURCE / "lib/abi/tent.map").read_text()
        later = text[text.index("\n# Transfer Intent API v1."):]
        return self.copy("old", symbol_map=[(later, "")]).build_real(described=False)

    def test_the_matrix_is_one_table(self):
        old = self.old_library()
        old_client = self.client("old_client.c", LEGACY_INCLUDE, LIBRARY)
        new_client = self.client("new_client.c", SOURCE / "lib/include", LIBRARY)
        discovering = self.client("discovering_client.c", SOURCE / "lib/include", "-ldl")
        temporary = self.root / "temporary"
        temporary.mkdir()
        arguments = [LIBRARY, "--old-library", old, "--old-client", old_client, "--new-client", new_client,
                     "--new-client", discovering, "-q"]
        result = self.check(*arguments, env=environment(TMPDIR=str(temporary)))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        table = result.stdout
        self.assertRegex(table, r"(?m)^ +old library +new library *$")
        self.assertRegex(table, r"(?m)^old client old_client +PASS  old client: moved +PASS  old client: moved *$")
        self.assertRegex(table, r"(?m)^new client new_client +WARN  is not started: .*TENT_1\.0.* +PASS  new client: ")
        self.assertRegex(table, r"(?m)^new client discovering_client +PASS  symbol unavailable: use tent_submit +PASS  request invalid")
        self.assertEqual(list(temporary.iterdir()), [])
        document = json.loads(self.check(*arguments, "--format", "json").stdout)
        valid(document, "abi-report")
        self.assertEqual(len(document["matrix"]), 6)

    def test_a_library_from_before_v1(self):
        old = self.old_library()
        result = self.check(old, "-q")
        self.assertEqual(result.returncode, 1)
        self.assertIn("none of the 13 functions of v1 is exported", result.stdout)
        result = self.check(old, "--legacy")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"(?m)^SKIP  sizes\.accepted +")
        self.assertIn("0 failed", result.stdout)

    def test_a_client_that_fails_or_takes_another_library(self):
        source = self.root / "fails.c"
        source.write_text("int tent_available(void*);\nint main(int c, char** v) { return c == 1 && tent_available(v) == 0 ? 7 : 0; }\n")
        failing, pinned = self.root / "failing", self.root / "pinned"
        must("cc", source, LIBRARY, "-o", failing)
        result = self.check(LIBRARY, "--old-client", failing, "-q")
        self.assertEqual(result.returncode, 1)
        self.assertIn("exit status 7", result.stdout)
        must("cc", source, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent},--disable-new-dtags", "-o", pinned)
        result = self.check(LIBRARY, "--old-client", pinned, "-q")
        self.assertEqual(result.returncode, 1)
        self.assertIn("it takes another library", result.stdout)
        self.assertEqual(self.check(LIBRARY, "--old-client", self.root / "missing").returncode, 3)
        other = self.copy("other").build_stub(soname="libtent.so.2")
        result = self.check(LIBRARY, "--old-library", other, "--old-client", failing, "-q")
        self.assertEqual(result.returncode, 1)
        self.assertIn("does not run with libtent.so.2: it needs libtent.so.1", result.stdout)

    def test_a_client_that_uses_another_library_or_none(self):
        result = self.check(LIBRARY, "--old-client", "/bin/true", "-q")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("does not load libtent.so.1", result.stdout)
        # Through a library of its own that is pinned to another libtent.
        other = self.root / "other"
        other.mkdir()
        shutil.copy(LIBRARY, other / "libtent.so.1")
        wrapper, program, client = self.root / "wrapper.c", self.root / "program.c", self.root / "client"
        wrapper.write_text("int tent_available(void*);\nint wrapped(void) { return tent_available(0); }\n")
        program.write_text("int wrapped(void);\nint main(void) { wrapped(); return 0; }\n")
        must("cc", "-shared", "-fPIC", wrapper, other / "libtent.so.1", f"-Wl,-rpath,{other},--disable-new-dtags", "-o",
             other / "libwrapper.so")
        must("cc", program, other / "libwrapper.so", "-o", client, f"-Wl,-rpath-link,{other}")
        result = self.check(LIBRARY, "--old-client", client, "-q")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(f"takes another library: {other}/libtent.so.1", result.stdout)

    def test_clients_need_a_temporary_folder(self):
        client = self.client("old_client.c", LEGACY_INCLUDE, LIBRARY)
        result = self.check(LIBRARY, "--old-client", client, cwd=self.root, env=environment(TMPDIR="/nowhere"))
        self.assertEqual((result.returncode, result.stdout), (4, ""))
        self.assertIn("clients need a temporary folder, and /nowhere is none", result.stderr)


if __name__ == "__main__":
    skip_without_abidw()
    unittest.main()
