#!/usr/bin/env python3
"""Runs the fuzz targets, each from the seeds of the corpus, what it found before, and tests/fuzz/regressions.

    run.py [--seconds N] BUILD_FOLDER

Exit code 1 when one crashes; what made it crash is then under BUILD_FOLDER/fuzz/crashes, and belongs, once mended, into
tests/fuzz/regressions/TARGET.
"""

import argparse
import contextlib
import shutil
import ssl
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parents[1] / "corpus"
BASELINES = HERE.parent / "abi/baseline"
MAGIC = 0x544E4554

DESCRIPTION = (b'{"instance": 5, "version": 1, "name": "n", "host": "h", "boot_id": "b", "transports": ["tcp"], "buffers": '
               b'[{"base": 4096, "length": 4096, "location": "cpu", "access": "read_write", "keys": {"tcp": "k"}}]}')


def entry(**fields):
    values = {"size": 88, "schema": 1, "opcode": 1, "length": 64, "intent": 1, "priority": 1, **fields}
    return struct.pack("<IIiIQQQQiiQQiIQ", values["size"], values["schema"], values["opcode"], 0, 1, 0, 4096,
                       values["length"], values["intent"], values["priority"], 10, 0, 3, 0, 0)


def client_hello():
    """The first flight of any client of TLS 1.3."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    out = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out).do_handshake()
    return out.read()


def section(facts):
    """A description as a library carries it (lib/abi/description.h): (line, number, number) each."""
    text = "".join(line + "\n" for line, _, _ in facts).encode() + b"\0"
    numbers = b"".join(struct.pack("<QQ", *pair) for _, *pair in facts)
    return b"TENTABI1" + struct.pack("<II", len(facts), len(text)) + numbers + text


def library(content):
    """A small shared library that carries `content`, with symbols of two versions."""
    source = ("int tent_available(void* engine) { return engine != 0; }\n"
              "unsigned tent_get_api_version(void) { return 65536; }\n"
              '__attribute__((section(".tent.abi"), visibility("hidden"), used)) const unsigned char carried[] = {'
              + ",".join(map(str, content)) + "};\n")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "map"
        script.write_text("TENT_0 { global: tent_available; local: *; };\n"
                          "TENT_1.0 { global: tent_get_api_version; } TENT_0;\n")
        out = Path(folder) / "libseed.so"
        subprocess.run(["clang-14", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-o", out, "-Wl,-soname,libseed.so.1",
                        "-Wl,--build-id", f"-Wl,--version-script={script}"], input=source.encode(), check=True)
        return out.read_bytes()


def seeds():
    """(target, name, bytes)"""
    for path in sorted(BASELINES.glob("*.json")):
        yield "abi_description_fuzz", path.name, b"\0" + path.read_bytes()
    carried = section([("constant TENT_OK", 0, 0), ("constant TENT_ERROR_RUNTIME", 2**64 - 1, 1), ("macro M {0}", 0, 0),
                       ("struct tent_status", 16, 8), ("member tent_status status int", 0, 4),
                       ("function tent_available int (tent_engine_t)", 0, 0), ("inline tent_submit_v1 int (void)", 0, 0)])
    yield "abi_description_fuzz", "section", b"\1" + carried
    for kind, name in enumerate(("library", "program"), 2):
        yield "abi_description_fuzz", name, bytes([kind]) + library(carried)
    kinds = {"configs": 0, "environments": 1}
    for path in sorted(CORPUS.rglob("*.json")):
        kind = 0 if path.name.startswith("config") else kinds.get(path.parent.name, 2)
        yield "json_fuzz", path.relative_to(CORPUS).as_posix().replace("/", "-"), bytes([kind]) + path.read_bytes()
    for stride, size in ((88, 88), (48, 48), (96, 96), (88, 64), (128, 128)):
        block = entry(size=size).ljust(stride, b"\0")[:stride]
        yield "entry_fuzz", f"{stride}-{size}", struct.pack("<HB", stride, 0) + 3 * block
    yield "wire_fuzz", "description", b"\0" + DESCRIPTION
    yield "wire_fuzz", "notify", b'\0{"type": "notify", "from": "127.0.0.1:1", "name": "6e", "message": "6d"}'
    yield "wire_fuzz", "error", b'\0{"error": {"reason": "out_of_range", "detail": "d"}, "instance": 1}'
    yield "wire_fuzz", "shm", b"\1shm1 " + b"0123456789abcdef" * 2 + b" " + b"fedcba9876543210" * 2
    for operation, payload in ((0, b""), (1, b"data")):
        yield ("wire_fuzz", f"request-{operation}",
               b"\2" + struct.pack("<IIQ", MAGIC, 1, len(payload)) + struct.pack("<QQQII", 1, 4096, 4, operation, 0) + payload)
    yield ("wire_fuzz", "response",
           b"\3" + struct.pack("<IIQ", MAGIC, 1, 4) + struct.pack("<QQII", 1, 4, 0, 0) + b"data")
    for kind, value in ((1, 0), (5, 2), (6, 40)):
        frame = struct.pack("<IIQQQ", kind, value, 9, 4096, 8192) + bytes(range(16))
        yield "wire_fuzz", f"shm-frame-{kind}", b"\5" + frame
    yield "stranger_fuzz", "ticket", b"\0" + struct.pack("<II", MAGIC, 1) + bytes(range(16))
    for kind in (0, 1):
        yield "stranger_fuzz", f"client-hello-{kind}", bytes([kind]) + client_hello()
    yield "stranger_fuzz", "token", b"\2" + bytes(range(32))
    yield "wire_fuzz", "offer", b"\4" b"4 encrypted"
    yield "wire_fuzz", "answer", b"\4tcp1 4242 " + b"0123456789abcdef" * 4 + b" " + b"fedcba9876543210" * 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("build", type=Path)
    arguments = parser.parse_args()
    work = arguments.build.resolve() / "fuzz"
    crashes = work / "crashes"
    shutil.rmtree(crashes, ignore_errors=True)
    crashes.mkdir(parents=True)
    targets = sorted(p for p in (arguments.build / "tests/fuzz").iterdir() if p.name.endswith("_fuzz"))
    for target in targets:
        (work / target.name).mkdir(exist_ok=True)
    built = {target.name for target in targets}
    for target, name, content in seeds():
        if target in built:
            (work / target / name).write_bytes(content)
    failed = False
    for target in targets:
        regressions = HERE / "regressions" / target.name
        folders = [work / target.name, *([regressions] if regressions.is_dir() else [])]
        result = subprocess.run([target.resolve(), f"-max_total_time={arguments.seconds}", "-timeout=10",
                                 "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=0",
                                 f"-artifact_prefix={crashes}/{target.name}-", *folders],
                                capture_output=True, text=True, check=False)
        runs = [line for line in result.stderr.splitlines() if "number_of_executed_units" in line]
        print(f"{target.name}: {runs[0].split()[-1] if runs else '?'} inputs in {arguments.seconds} s, "
              f"{'a crash' if result.returncode else 'no crash'}")
        if result.returncode:
            print(result.stderr[-6000:])
            failed = True
    return 1 if failed or not targets else 0


if __name__ == "__main__":
    sys.exit(main())
