#!/usr/bin/env python3
"""The C API and tent-explain decide alike: each v1 vector of the corpus, as a C entry through tent_explain_requests.

    c_parity_test.py LIBRARY TENT_EXPLAIN CORPUS [CONFIG VECTORS]...

With further arguments, pairs of files of the caller's besides the corpus. A vector that a C entry cannot express (a file
target, a GPU's memory, a NUL in a name) is left out; the test counts what remains.
"""

import ctypes
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from c_structs import Request as Entry, Result  # noqa: E402

LIBRARY, EXPLAIN, CORPUS = sys.argv[1:4]
GIVEN = list(zip(sys.argv[4::2], sys.argv[5::2]))
ENVIRONMENT = Path(CORPUS) / "environments/host-only.json"
NOW_NS = 123456789012345
KNOWN_SIZE = 88

NAMES = {
    "opcode": ["read", "write"],
    "intent_type": ["unspec", "foreground_get", "background_prefetch", "migration", "checkpoint", "weight_loading",
                    "staging_internal"],
    "requested_priority": ["unspec", "high", "medium", "low"],
    "transport_hint": ["unspec", "rdma", "mnnvl", "shm", "nvlink", "gds", "io_uring", "tcp", "ascend", "sunrise_link",
                       "tpu", "ub", "mpcomm"],
}
ALIASES = {"iouring": "io_uring", "ascend_direct": "ascend"}


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("mode", ctypes.c_int32), ("now_ns", ctypes.c_uint64),
                ("environment", ctypes.c_char_p)]


def number(field, value):
    if isinstance(value, int):
        return value
    name = re.sub(r"^(tent_)?(intent|priority|transport|opcode)_", "", value.lower())
    return NAMES[field].index(ALIASES.get(name, name))


def expressible(vector):
    request = vector["request"]
    source, target = request.get("source", {}), request.get("target", {})
    if vector.get("surface", "v1") != "v1" or "file" in json.dumps(target) or any(key.startswith("deadline_budget") for key in request):
        return False
    if source.get("memory", "cpu") != "cpu" or target.get("memory", "cpu") != "cpu":
        return False
    return "\0" not in (request.get("policy_name") or "") and not isinstance(request["length"], str)


def entry_of(vector):
    """The bytes of the vector's C entry, what they refer to, and the arguments of the call."""
    request, layout = vector["request"], vector.get("layout", {})
    name = request.get("policy_name")
    memory = ctypes.create_string_buffer(64)
    keep = (None if name is None else name.encode(), memory)
    entry = Entry(struct_size=layout.get("struct_size", KNOWN_SIZE))
    schema = layout.get("schema_version", 1)
    entry.schema_version = layout.get("entry_schema_version", schema)
    entry.opcode = number("opcode", request.get("opcode", 0))
    entry.reserved_opcode = layout.get("reserved_opcode", 0)
    entry.source = None if request.get("source", {}).get("null") else ctypes.addressof(memory)
    entry.target_offset = request.get("target", {}).get("offset", 0)
    entry.length = request["length"]
    entry.intent_type = number("intent_type", request.get("intent_type", 0))
    entry.requested_priority = number("requested_priority", request.get("requested_priority", 0))
    entry.deadline_ns = request.get("deadline_ns") or 0
    entry.policy_name = keep[0]
    entry.transport_hint = number("transport_hint", request.get("transport_hint", 0))
    entry.reserved0 = layout.get("reserved0", 0)
    entry.flags = request.get("flags", 0)
    stride = layout.get("entry_stride", max(KNOWN_SIZE, layout.get("struct_size", KNOWN_SIZE)))
    misalign = layout.get("misalign", 0)
    tail = bytes.fromhex(layout.get("tail", ""))
    size = max(KNOWN_SIZE + len(tail), min(stride, 1 << 17), 4096)
    block = ctypes.create_string_buffer(size + 64)
    base = (ctypes.addressof(block) + 15) // 16 * 16 + misalign
    ctypes.memmove(base, bytes(entry) + tail, KNOWN_SIZE + len(tail))
    return base, stride, schema, (block, entry, keep)


class Parity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = ctypes.CDLL(LIBRARY)
        cls.library.tent_create_engine.restype = ctypes.c_void_p
        cls.library.tent_destroy_engine.argtypes = [ctypes.c_void_p]
        cls.library.tent_explain_requests.argtypes = [
            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint32,
            ctypes.POINTER(Options), ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t)]

    def last_error(self):
        result = Result(struct_size=ctypes.sizeof(Result))
        self.assertEqual(self.library.tent_last_error(ctypes.byref(result)), 0)
        return result

    def engine(self, config, tenant):
        self.library.tent_load_config_from_file(os.fsencode(config))
        keys = {"rpc_server_hostname": "127.0.0.1", "rpc_server_port": "0", "transports/tcp/port": "0"}
        if tenant is not None:
            keys["tenant"] = tenant
        for key, value in keys.items():
            self.library.tent_set_config(key.encode(), value.encode())
        engine = self.library.tent_create_engine()
        self.assertTrue(engine, self.last_error().message.decode())
        return engine

    def by_c(self, engine, vector, mode, now_ns):
        base, stride, schema, keep = entry_of(vector)
        options = Options(ctypes.sizeof(Options), {"strict": 0, "compat": 1, None: -1}[mode], now_ns,
                          ENVIRONMENT.read_bytes())
        size = ctypes.c_size_t()
        arguments = (engine, base, 1, stride, schema, ctypes.byref(options))
        code = self.library.tent_explain_requests(*arguments, None, ctypes.byref(size))
        if code != 0:
            error = self.last_error()
            return {"status": error.category_name.decode(), "reason": error.reason_name.decode(),
                    "field": error.field_name.decode()}
        text = ctypes.create_string_buffer(size.value)
        self.assertEqual(self.library.tent_explain_requests(*arguments, text, ctypes.byref(size)), 0)
        del keep
        result = json.loads(text.value)[0]
        self.assertEqual((result.pop("name"), result.pop("index")), ("entry-0", 0))
        return result

    def compare(self, config, path):
        """How many vectors of the file were compared."""
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        now_ns = document.get("clock", {}).get("now_ns", NOW_NS)
        explained = subprocess.run([EXPLAIN, "-q", "--format", "json", "--now", str(now_ns), "--config", str(config),
                                    "--env", str(ENVIRONMENT), str(path)], capture_output=True, text=True, check=False)
        results = json.loads(explained.stdout)["results"]
        engines = {}
        compared = 0
        for vector, expected in zip(document["vectors"], results, strict=True):
            if not expressible(vector):
                continue
            tenant = vector.get("tenant", document.get("tenant"))
            if tenant not in engines:
                engines[tenant] = self.engine(config, tenant)
            with self.subTest(file=str(path), vector=expected["name"]):
                mode = vector.get("mode", document.get("mode"))
                actual = self.by_c(engines[tenant], vector, mode, now_ns)
                del expected["name"], expected["index"]
                if "requested" not in actual:  # of the call as a whole
                    error = expected["error"]
                    expected = {"status": expected["status"], "reason": error["reason"], "field": error["field"]}
                elif actual["error"]:
                    # The index is the one within the call.
                    actual["error"].pop("index", None), expected["error"].pop("index", None)
                self.assertEqual(actual, expected)
            compared += 1
        for engine in engines.values():
            self.library.tent_destroy_engine(engine)
        return compared

    def test_the_corpus(self):
        corpus = Path(CORPUS)
        pairs = [(corpus / folder / "config.json", path) for folder in ("categories", "workloads", "submit", "quickstart")
                 for path in sorted((corpus / folder).glob("*.json"))
                 if path.name != "config.json" and (corpus / folder / "config.json").exists()]
        compared = sum(self.compare(config, path) for config, path in pairs)
        self.assertGreater(compared, 40)

    def test_the_files_that_were_given(self):
        for config, path in GIVEN:
            self.assertGreater(self.compare(config, path), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
