#!/usr/bin/env python3
"""tent-abi-check on changes of the interface and of the behaviour: breaks are caught and named, harmless ones pass in silence.

    abi_breaks_test.py TENT_ABI_CHECK LIBRARY BUILD_FOLDER SOURCE_DIR

Each change is made on a copy and built. Changes of the header and of the symbol map need no more than a library with that
interface; those of the behaviour are of the real sources, linked with everything else as it was built.
"""

import concurrent.futures
import json
import unittest

from abi_case import BASELINE, Case, skip_without_abidw

OLD, NEW, SOURCE_ONLY = "old_client_new_library", "new_client_old_library", "source"

SOURCE_MEMBER = "  void* source;             /* this process's memory; not NULL */\n"
OPCODE_MEMBERS = "  int32_t opcode;           /* OPCODE_READ, OPCODE_WRITE */\n"
RESERVED_OPCODE = "  uint32_t reserved_opcode; /* 0 */\n"
LAST_MEMBER = "bits 32-63 ignored and recorded */\n};"
REQUEST_INIT = "TENT_INTENT_UNSPEC, TENT_PRIORITY_UNSPEC, 0u, NULL, TRANSPORT_UNSPEC, 0u, 0u "
NEXT_VERSION = "} TENT_1.0;\n"
NEXT_MINOR = ("#define TENT_API_VERSION_MINOR 1u", "#define TENT_API_VERSION_MINOR 2u")
NOTIFI_INLINE = "static inline int tent_submit_v1_notif("

# Of the header or the map: name, what changes, (rule, words of the sentence, who breaks).
BREAKS = {
    "members that change places": (
        dict(header=[(OPCODE_MEMBERS + RESERVED_OPCODE, RESERVED_OPCODE + OPCODE_MEMBERS)]),
        ("member_reordered", "struct tent_request_v1, member opcode is reordered: it was at offset 8 and is at 12", {OLD, NEW})),
    "members of equal type that change places": (
        dict(header=[("  uint64_t base;\n  uint64_t length;\n", "  uint64_t length;\n  uint64_t base;\n")]),
        ("member_reordered", "struct tent_buffer_info, member base is reordered: it was at offset 0 and is at 8", {OLD, NEW})),
    "a longer array": (
        dict(header=[("  uint64_t length;\n  char location[64];", "  uint64_t length;\n  char location[128];")]),
        ("member_resized", "struct tent_buffer_info, member location is resized: it was char[64] with 64 bytes and is "
                           "char[128] with 128", {OLD, NEW, SOURCE_ONLY})),
    "a member between others": (
        dict(header=[(SOURCE_MEMBER, "  uint64_t cookie;\n" + SOURCE_MEMBER)]),
        ("member_inserted", "struct tent_request_v1, member cookie (uint64_t at 16, 8 bytes) is inserted", {OLD, NEW, SOURCE_ONLY})),
    "another name": (
        dict(header=[("  uint64_t transferred_bytes;", "  uint64_t moved_bytes;")]),
        ("member_renamed", "struct tent_status, member transferred_bytes is renamed: it is moved_bytes now", {SOURCE_ONLY})),
    "a member less": (
        dict(header=[("  double ewma_bandwidth_bps;\n", "")]),
        ("member_removed", "struct tent_nic_load_stat, member ewma_bandwidth_bps (double at 72, 8 bytes) is removed",
         {OLD, NEW, SOURCE_ONLY})),
    "another sign": (
        dict(header=[("  uint64_t transferred_bytes;", "  int64_t transferred_bytes;")]),
        ("member_type_changed", "struct tent_status, member transferred_bytes has another type: it was uint64_t and is int64_t",
         {OLD, NEW, SOURCE_ONLY})),
    "another thing pointed to": (
        dict(header=[("  struct tent_notifi_record* records;", "  struct tent_notifi_info* records;")]),
        ("member_type_changed", "struct tent_notifi_info, member records has another type: it was struct tent_notifi_record* "
                                "and is struct tent_notifi_info*", {OLD, NEW, SOURCE_ONLY})),
    "a member behind a fixed struct": (
        dict(header=[("  int transport_hint; /* TRANSPORT_* */\n};", "  int transport_hint; /* TRANSPORT_* */\n  uint64_t more;\n};")]),
        ("member_appended_to_fixed_struct", "struct tent_request, member more (uint64_t at 48, 8 bytes) is appended", {OLD, NEW})),
    "a member in padding": (
        dict(header=[("  int internal;       /* must be 0 */\n", "  int internal;       /* must be 0 */\n  int more;\n")]),
        ("member_in_padding", "struct tent_memory_options, member more (int at 340, 4 bytes) lies in what was padding", {OLD})),
    "a struct that is packed": (
        dict(header=[("struct tent_memory_options {\n", "#pragma pack(push, 1)\nstruct tent_memory_options {\n"),
                     ("typedef struct tent_memory_options tent_memory_options_t;\n",
                      "#pragma pack(pop)\ntypedef struct tent_memory_options tent_memory_options_t;\n")]),
        ("struct_realigned", "struct tent_memory_options was aligned to 8 bytes and is to 1", {OLD, NEW})),
    "a member that the library does not know": (
        dict(header=[(LAST_MEMBER, LAST_MEMBER[:-2] + "  uint64_t cookie;\n};")], known_size="88"),
        ("known_size_differs", "struct tent_request_v1 has 96 bytes in the header, and the library knows 88", {SOURCE_ONLY})),
    "a smaller known size": (
        dict(known_size="80"),
        ("known_size_lowered", "request schema 1: known_size was 88 and is 80", {OLD})),
    "another value": (
        dict(header=[("#define TENT_ERROR_DEADLINE (-8)", "#define TENT_ERROR_DEADLINE (-18)")]),
        ("constant_changed", "constant TENT_ERROR_DEADLINE was -8 and is -18", {OLD, NEW})),
    "a constant less": (
        dict(header=[("#define STATUS_TIMEOUT 5\n", "")]),
        ("constant_removed", "constant STATUS_TIMEOUT (5) is not in the header any more", {SOURCE_ONLY})),
    "a macro that names another type": (
        dict(header=[("#define tent_batch_id_t uint64_t", "#define tent_batch_id_t uint32_t")]),
        ("macro_changed", "macro tent_batch_id_t was uint64_t and is uint32_t", {OLD, NEW, SOURCE_ONLY})),
    "another default": (
        dict(header=[(REQUEST_INIT, REQUEST_INIT.replace("PRIORITY_UNSPEC", "PRIORITY_HIGH"))]),
        ("macro_changed", "macro TENT_REQUEST_V1_INIT was", {SOURCE_ONLY})),
    "a narrower parameter": (
        dict(header=[("tent_batch_id_t batch, uint64_t timeout_ns);", "tent_batch_id_t batch, uint32_t timeout_ns);")]),
        ("prototype_changed", "tent_wait_batch has another prototype: it was int (tent_engine_t, tent_batch_id_t, uint64_t) "
                              "and is int (tent_engine_t, tent_batch_id_t, uint32_t)", {OLD, NEW, SOURCE_ONLY})),
    "a parameter more": (
        dict(header=[("int tent_available(tent_engine_t engine);", "int tent_available(tent_engine_t engine, int how);")]),
        ("prototype_changed", "tent_available has another prototype: it was int (tent_engine_t) and is int (tent_engine_t, int)",
         {OLD, NEW, SOURCE_ONLY})),
    "another result": (
        dict(header=[("uint64_t tent_monotonic_now_ns(void);", "uint32_t tent_monotonic_now_ns(void);")]),
        ("prototype_changed", "tent_monotonic_now_ns has another prototype: it was uint64_t (void)", {OLD, NEW, SOURCE_ONLY})),
    "a typedef of another thing": (
        dict(header=[("typedef struct tent_segment_info tent_segment_info_t;", "typedef struct tent_status tent_segment_info_t;")]),
        ("type_changed", "type tent_segment_info_t was struct tent_segment_info and is struct tent_status", {OLD, NEW, SOURCE_ONLY})),
    "another major version": (
        dict(header=[("#define TENT_API_VERSION_MAJOR 1u", "#define TENT_API_VERSION_MAJOR 2u")]),
        ("api_major_changed", "the API version was 1.0 and is 2.1", {OLD, NEW})),
    "a symbol less": (
        dict(header=[("int tent_wait_batch(", "static inline int tent_wait_batch_(")],
             symbol_map=[("    tent_wait_batch;\n", "")]),
        ("symbol_removed", "tent_wait_batch (TENT_1.0) is not exported any more", {OLD, SOURCE_ONLY})),
    "a symbol of another version": (
        dict(symbol_map=[("    tent_last_error;\n", ""), ("    tent_available;\n", "    tent_available;\n    tent_last_error;\n")]),
        ("symbol_reversioned", "tent_last_error had TENT_1.0 and has TENT_0", {OLD})),
    "a new symbol in a released version": (
        dict(header=[("uint64_t tent_monotonic_now_ns(void);", "uint64_t tent_monotonic_now_ns(void);\nint tent_flush(void);"),
                     NEXT_MINOR],
             symbol_map=[("    tent_last_error;\n", "    tent_flush;\n    tent_last_error;\n")]),
        ("released_version_changed", "tent_flush is new in TENT_1.0, which has been released", {NEW})),
    "another soname": (
        dict(soname="libtent.so.2"),
        ("soname_changed", "the soname was libtent.so.1 and is libtent.so.2", {OLD, NEW})),
}

# Of the sources: name, (file, edits), the check that fails, words of its reason.
MISBEHAVIOURS = {
    "strides that are misaligned": (
        "intent/entry.cc", [("if (entry_stride % Layout::kAlignment != 0)", "if (false)")], "misalignment", "a stride of 89"),
    "bases that are misaligned": (
        "intent/entry.cc", [("if (reinterpret_cast<uintptr_t>(entries) % Layout::kAlignment != 0)", "if (false)")],
        "misalignment", "entries 1 bytes off"),
    "counts that overflow": (
        "intent/entry.cc", [("if (entry_stride != 0 && count >", "if (false && count >")], "overflow", "overflows: expected code -3"),
    "sizes over the stride": (
        "intent/entry.cc", [("if (struct_size > entry_stride || struct_size", "if (struct_size")], "sizes.refused",
        "killed by signal 11 (Segmentation fault)"),
    "sizes that split a field": (
        "intent/entry.cc", [("if (!endsOnField(struct_size)) return", "if (false) return")], "sizes.refused", "struct_size 49"),
    "an entry that is read to the end": (
        "intent/entry.cc", [("std::memcpy(copy.data(), from, struct_size);", "std::memcpy(copy.data(), from, copy.size());")],
        "sizes.accepted", "killed by signal 11 (Segmentation fault)"),
    "another known size": (
        "intent/entry.cc", [("kSchemaV1{Layout::kMinimumSize, Layout::kKnownSize}", "kSchemaV1{Layout::kMinimumSize, 80}"),
                            ("Layout::kMinimumSize == 48 && Layout::kKnownSize == 88", "true")],
        "schema.discovery", "known_size is 80, under the header's 88"),
    "the library's stride instead of the caller's": (
        "abi/entries.cc", [("bytes += entry_stride;", "bytes += sizeof(tent_request_v1_t);")], "strides.walked",
        "killed by signal 11 (Segmentation fault)"),
    "an output that is written on an error": (
        "abi/request_api.cc", [("    auto found = on.batchStatus(batch);", "    *status = {};\n    auto found = on.batchStatus(batch);")],
        "outputs.untouched", "a failing status call wrote its output"),
    "notifications of v1 that are never sent": (
        "abi/request_api.cc", [("return outcomeOf(on.submit(batch, list.requests(), *mode, notification ? &*notification : nullptr));",
                                "return outcomeOf(on.submit(batch, list.requests(), *mode, nullptr));")],
        "notifications.parity", "still running after 5 s"),
    "a legacy error that is not -1": (
        "abi/request_api.cc", [("  return legacyCallOn(engine, [&](Engine& on) -> SubmitFailure {",
                                "  return callOn(engine, [&](Engine& on) -> SubmitFailure {")],
        "legacy.errors", "opcode 7 is not refused with -1"),
    "a crash": (
        "abi/request_api.cc", [("    if (fd == nullptr) return nullArgument(\"fd\");", "    __builtin_trap();")],
        "waiting", "killed by signal 4 (Illegal instruction)"),
    "reasons that are numbered otherwise": (
        "abi/result.cc", [("int32_t position = 1;", "int32_t position = 2;")], "errors.codes", "expected code -5 with reason 501"),
    "an error that names no entry": (
        "abi/result.cc", [("whole.index = error.index;", "whole.index = -1;")], "all_or_nothing",
        "the error is of entry -1, not of the lowest that fails, 2"),
    "a result that is written behind its size": (
        "abi/result.cc", [("writeSized(whole, result);", "*result = whole;")],
        "errors.last", "more was written than a shorter result has room for"),
    "another version": (
        "abi/engine_api.cc", [("return TENT_API_VERSION;", "return 2u << 16;")], "version.api", "major version 2"),
}

HARMLESS = {
    "comments": dict(header=[("/* STATUS_* */", "/* of STATUS_* */")]),
    "a parameter's name": dict(header=[("int tent_available(tent_engine_t engine);", "int tent_available(tent_engine_t which);")]),
    "a new function in a version of its own": dict(
        header=[("uint64_t tent_monotonic_now_ns(void);", "uint64_t tent_monotonic_now_ns(void);\nint tent_flush(void);"), NEXT_MINOR],
        symbol_map=[(NEXT_VERSION, NEXT_VERSION + "\nTENT_1.2 {\n  global:\n    tent_flush;\n} TENT_1.1;\n")]),
    "a new constant": dict(
        header=[("#define TENT_FIELD_NOTIFICATION 21", "#define TENT_FIELD_NOTIFICATION 21\n#define TENT_FIELD_MORE 22"), NEXT_MINOR]),
    "a member behind an entry": dict(
        header=[(LAST_MEMBER, LAST_MEMBER[:-2] + "  uint64_t cookie;\n};"), (REQUEST_INIT, REQUEST_INIT.rstrip() + ", 0u "),
                NEXT_MINOR]),
    "a member behind a result": dict(
        header=[("  char message[512]; /* one sentence for people, terminated */\n",
                 "  char message[512]; /* one sentence for people, terminated */\n  uint64_t trace;\n"), NEXT_MINOR]),
    "members behind options": dict(
        header=[("  const char* notification_message; /* up to 4095 bytes */\n",
                 "  const char* notification_message; /* up to 4095 bytes */\n  const char* trace;\n  uint64_t span;\n"), NEXT_MINOR]),
    "a new struct": dict(
        header=[("#define TENT_RESULT_INIT", "struct tent_span {\n  uint64_t begin;\n  uint64_t end;\n};\n\n#define TENT_RESULT_INIT")]),
    "the same type by another name": dict(header=[("  tent_segment_id_t handle; /* of the sender", "  uint64_t handle; /* of the sender")]),
    "a typedef in the place of what it means": dict(
        header=[("int tent_free_memory(tent_engine_t engine, void* addr);", "int tent_free_memory(void* engine, void* addr);")]),
    "the same value written otherwise": dict(
        header=[("#define TENT_ERROR_DEADLINE (-8)", "#define TENT_ERROR_DEADLINE (TENT_ERROR_INVALID_POLICY - 1)"),
                ("#define TENT_REASON_MISALIGNED 303", "#define TENT_REASON_MISALIGNED 0x12f")]),
    "declarations in another order": dict(
        header=[("uint64_t tent_monotonic_now_ns(void);\n", ""),
                ("uint32_t tent_get_api_version(void);\n", "uint32_t tent_get_api_version(void);\nuint64_t tent_monotonic_now_ns(void);\n")]),
    "a map in another order": dict(
        symbol_map=[("    tent_batch_fd;\n", ""), ("    tent_wait_batch;\n", "    tent_wait_batch;\n    tent_batch_fd;\n")]),
    "a new inline function": dict(
        header=[(NOTIFI_INLINE, "static inline int tent_nothing(void) {\n  return TENT_OK;\n}\n\n" + NOTIFI_INLINE)]),
    "other options of the compiler": dict(options=["-O3", "-g3"]),
}


class Interface(Case):
    def built(self, name, change):
        changes = dict(change)
        built = {key: changes.pop(key) for key in ("soname", "known_size", "options") if key in changes}
        return self.copy(name.replace(" ", "-").replace("'", ""), **changes).build_stub(**built)

    def findings(self, old, new):
        result = self.check("diff", old, new, "--format", "json")
        return result, {check["finding"]["rule"]: check for check in json.loads(result.stdout)["checks"] if check["finding"]}

    def assert_break(self, library, expected):
        rule, words, victims = expected
        result, findings = self.findings(BASELINE, library)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(rule, findings)
        sentences = [check["reason"] for check in json.loads(result.stdout)["checks"] if check["name"].endswith("." + rule)]
        self.assertTrue(any(words in sentence for sentence in sentences), sentences)
        named = next(check for check in json.loads(result.stdout)["checks"] if check["finding"] and words in check["reason"])
        self.assertEqual((named["outcome"], set(named["finding"]["breaks"])), ("fail", victims))
        # The same soname over a break of old clients is one more.
        broken = any(OLD in check["finding"]["breaks"] for check in findings.values() if check["outcome"] == "fail")
        self.assertEqual("soname_kept" in findings, broken and "soname_changed" not in findings)
        self.assertIn(words, self.check("diff", BASELINE, library).stdout)

    def test_each_break_of_the_header_and_the_map_is_caught_and_named(self):
        self.assertGreaterEqual(len(BREAKS), 24)
        for name, (change, expected) in BREAKS.items():
            with self.subTest(name):
                self.assert_break(self.built(name, change), expected)

    def test_a_header_that_cannot_be_described_stops_the_build(self):
        unreadable = {
            "an anonymous union": [("  uint64_t transferred_bytes;", "  union {\n    uint64_t transferred_bytes;\n  };")],
            "a bit-field": [("  uint64_t transferred_bytes;", "  uint64_t transferred_bytes : 40;")],
            "an attribute": [("struct tent_status {\n", "struct __attribute__((aligned(16))) tent_status {\n")],
            "a macro with parameters": [("#define TYPE_FILE 1", "#define TYPE_FILE 1\n#define TENT_TWICE(x) (2 * (x))")],
        }
        for name, header in unreadable.items():
            with self.subTest(name), self.assertRaisesRegex(AssertionError, "describe.awk: .*transfer_engine.h: "):
                self.copy(name.replace(" ", "-"), header=header).describe()

    def test_symbols_that_are_nobodys(self):
        copy = self.copy(symbol_map=[("    tent_wait_batch;\n", "    tent_wait_batch;\n    helper_of_ours;\n")])
        library = copy.build_stub(options=["-Wl,--defsym,helper_of_ours=tent_stub"])
        result = self.check("diff", BASELINE, library)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("a symbol that is not of the API is exported now, helper_of_ours first", result.stdout)

    def test_each_harmless_change_passes_without_noise(self):
        self.assertGreaterEqual(len(HARMLESS), 12)
        for name, change in HARMLESS.items():
            with self.subTest(name):
                result = self.check("diff", "-q", BASELINE, self.built(name, change))
                self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
                self.assertRegex(result.stdout, r"\Acompatible: \d+ passed, 0 warned, 0 failed, 0 skipped\n\Z")

    def test_what_is_likely_a_slip_is_a_warning(self):
        slips = {
            "a const less": dict(header=[("int tent_submit_requests(tent_engine_t engine, tent_batch_id_t batch, const void* entries,",
                                          "int tent_submit_requests(tent_engine_t engine, tent_batch_id_t batch, void* entries,")]),
            "a minor version that was forgotten": dict(
                header=[("#define TENT_API_VERSION_MINOR 1u", "#define TENT_API_VERSION_MINOR 0u"),
                        ("#define TENT_FIELD_NOTIFICATION 21", "#define TENT_FIELD_NOTIFICATION 21\n#define TENT_FIELD_MORE 22")]),
        }
        for name, change in slips.items():
            with self.subTest(name):
                result = self.check("diff", "-q", BASELINE, self.built(name, change))
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertIn(" 1 warned, 0 failed", result.stdout)


class Behaviour(Case):
    def run_changed(self, number, source, edits):
        library = self.copy(f"changed-{number}").build_real(source, edits)
        return self.check(library, "--baseline", BASELINE, "--timeout", "5", "--format", "json")

    def test_each_misbehaviour_is_caught_and_named(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = {name: pool.submit(self.run_changed, number, source, edits)
                    for number, (name, (source, edits, _, _)) in enumerate(MISBEHAVIOURS.items())}
        for name, (_, _, check, words) in MISBEHAVIOURS.items():
            with self.subTest(name):
                result = runs[name].result()
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                failed = {one["name"]: one["reason"] for one in json.loads(result.stdout)["checks"] if one["outcome"] == "fail"}
                self.assertIn(check, failed)
                self.assertIn(words, failed[check])

    def test_a_copy_without_a_change_passes(self):
        library = self.copy().build_real("abi/result.cc", [("int32_t position = 1;", "int32_t place = 1;\n  int32_t& position = place;")])
        result = self.check(library, "--baseline", BASELINE, "-q")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"\Acompatible: \d+ passed, 0 warned, 0 failed, 0 skipped\n\Z")


if __name__ == "__main__":
    skip_without_abidw()
    unittest.main()
