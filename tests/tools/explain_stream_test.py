#!/usr/bin/env python3
"""tent-explain on streams: standard input, FIFOs, pipes that break or stall, interruption, and constant memory.

    explain_stream_test.py TENT_EXPLAIN SOURCE_DIR
"""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from explain_case import CORPUS, EXPLAIN, GOOD, Case


class Streams(Case):
    def test_standard_input_by_dash_and_by_its_device(self):
        for name in ("-", "/dev/stdin"):
            result = self.explain("--format", "ndjson", name, input=GOOD + "\n" + GOOD)
            self.assertEqual((result.returncode, len(result.stdout.splitlines())), (0, 2), result.stderr)
        document = '{"schema_version": 1, "vectors": [' + GOOD + "]}"
        self.assertEqual(self.explain("--format", "ndjson", "-", input=document).stdout.count("\n"), 1)

    def test_a_fifo_is_answered_line_by_line_while_it_is_written(self):
        fifo = self.root / "fifo"
        os.mkfifo(fifo)
        with subprocess.Popen([EXPLAIN, "--format", "ndjson", fifo], stdout=subprocess.PIPE, text=True) as process:
            with open(fifo, "w", encoding="utf-8") as writer:
                for index in range(3):
                    writer.write(GOOD + "\n")
                    writer.flush()
                    self.assertEqual(json.loads(process.stdout.readline())["index"], index)
            self.assertEqual(process.wait(timeout=60), 0)

    def test_a_broken_output_pipe_ends_quietly(self):
        path = self.write("v.ndjson", (GOOD + "\n") * 20_000)
        with subprocess.Popen([EXPLAIN, "--format", "ndjson", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(timeout=60), 0)

    def test_a_full_disk_is_an_error_of_the_environment(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([EXPLAIN, CORPUS / "quickstart/intents.json"], stdout=full, stderr=subprocess.PIPE,
                                    text=True, check=False)
        self.assertEqual(result.returncode, 4)
        self.assertIn("No space left on device", result.stderr)

    def test_an_interruption_still_reports_what_was_done(self):
        fifo = self.root / "fifo"
        os.mkfifo(fifo)
        with subprocess.Popen([EXPLAIN, "--format", "json", fifo], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            with open(fifo, "w", encoding="utf-8") as writer:
                writer.write(GOOD + "\n")
                writer.flush()
                start = b""
                while b'"index":0' not in start:  # once the result is out, the next line is being waited for
                    start += os.read(process.stdout.fileno(), 65536)
                process.send_signal(signal.SIGINT)
                document = json.loads(start + process.stdout.read())
            self.assertEqual(process.wait(timeout=60), 130)
        self.assertEqual((len(document["results"]), document["summary"]["interrupted"]), (1, True))

    def test_a_second_interruption_ends_a_run_whose_reader_is_stalled(self):
        path = self.write("v.ndjson", (GOOD + "\n") * 20_000)
        with subprocess.Popen([EXPLAIN, "--format", "ndjson", path], stdout=subprocess.PIPE) as process:
            process.stdout.read(1)
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=60), 130)

    def test_an_interrupted_lint_calls_nothing_good_and_blames_no_file(self):
        for text in (GOOD + "\n", GOOD[:10]):
            with subprocess.Popen([EXPLAIN, "--lint", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as process:
                process.stdin.write(text)
                process.stdin.flush()
                while not self.catches_interrupts(process.pid):
                    pass
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(timeout=60), 130)
                self.assertEqual((process.stdout.read(), process.stderr.read()), ("", ""))

    @staticmethod
    def catches_interrupts(pid):
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        return bool(int(re.search(r"^SigCgt:\s*([0-9a-f]+)", status, re.M)[1], 16) >> (signal.SIGINT - 1) & 1)

    def test_closed_standard_streams_are_errors_and_not_other_files(self):
        good = self.write("v.ndjson", GOOD + "\n")
        run = lambda shell: subprocess.run(["sh", "-c", shell, "sh", EXPLAIN, good], stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True, check=False, timeout=60)
        result = run('exec "$1" - <&-')
        self.assertEqual(result.returncode, 3)
        self.assertIn("Bad file descriptor", result.stderr)
        result = run('exec "$1" "$2" >&-')
        self.assertEqual(result.returncode, 4)
        self.assertIn("Bad file descriptor", result.stderr)

    def test_an_interruption_ends_the_wait_for_a_fifo_that_nobody_writes(self):
        fifo = self.root / "fifo"
        os.mkfifo(fifo)
        with subprocess.Popen([EXPLAIN, fifo], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.read(1)  # the heading is printed before it waits
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=60), 130)
            self.assertEqual(process.stderr.read(), b"")


class Constant(Case):
    """A long stream takes no more memory than a short one. TENT_STREAM_VECTORS says how many; sanitizers have costs of their own."""

    def test_a_long_stream_stays_under_64_mib(self):
        count = int(os.environ.get("TENT_STREAM_VECTORS", "100000"))
        line = (GOOD[:-2] + ',"intent_type":"foreground_get","deadline_budget":"5ms"}}\n').encode()
        with subprocess.Popen([EXPLAIN, "--format", "ndjson", "--config", CORPUS / "workloads/config.json", "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

            def feed():
                chunk = line * 1000
                for _ in range(count // 1000):
                    process.stdin.write(chunk)
                process.stdin.close()

            writer = threading.Thread(target=feed)
            writer.start()
            answered = sum(piece.count(b"\n") for piece in iter(lambda: process.stdout.read(1 << 20), b""))
            writer.join()
            self.assertEqual((process.wait(), answered), (0, count))
        peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        if "TENT_SANITIZED" not in os.environ:
            self.assertLess(peak_mib, 64)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
