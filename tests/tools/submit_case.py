"""What the tests of tent-submit share. Takes TENT_SUBMIT, TENT_EXPLAIN and SOURCE_DIR off the front of the command line."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

SUBMIT, EXPLAIN, SOURCE = (Path(sys.argv.pop(1)).resolve() for _ in range(3))
CORPUS = SOURCE / "corpus"
TIME_LIMIT = 120  # seconds; of what must not hang

try:
    from jsonschema import Draft7Validator

    SCHEMA = json.loads((SOURCE / "schemas/results.schema.json").read_text())
    VALIDATOR = Draft7Validator(SCHEMA)
except ImportError:
    VALIDATOR = None


def vector(name="v", length=4096, **request):
    return {"name": name, "request": {"length": length, **request}}


def write_to(segment=None, offset=0, registration="application", **more):
    target = {"offset": offset, "registration": registration}
    return {"opcode": "write", "target": {**target, "segment": segment} if segment else target, **more}


def children_of(pid):
    """The processes that a process has started and that are still there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(entry.name))
    return found


def is_there(pid):
    """Whether the process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, content):
        path = self.root / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def file(self, *vectors, name="v.json", **header):
        return self.write(name, json.dumps({"schema_version": 1, **header, "vectors": list(vectors)}))

    def start(self, *arguments, **options):
        """The tool as a process that the test must bring to its end; killed where it does not."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen([SUBMIT, *map(str, arguments)], text=True, cwd=self.root, **options)

        def end():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def submit(self, *arguments, **options):
        if "input" in options:
            options["stdin"] = None
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        if options["stdin"] is None:
            del options["stdin"]
        return subprocess.run([SUBMIT, *map(str, arguments)], text=True, check=False, cwd=self.root, timeout=TIME_LIMIT,
                              **options)

    def document(self, result, exit_code=0):
        """The JSON document that was printed, valid by the schema."""
        self.assertEqual(result.returncode, exit_code, result.stderr + result.stdout[-2000:])
        return self.valid(result.stdout)

    def valid(self, text):
        document = json.loads(text)
        if VALIDATOR:
            errors = [f"/{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in VALIDATOR.iter_errors(document)]
            self.assertEqual(errors[:3], [])
        return document

    def run_json(self, *arguments, exit_code=0, **options):
        return self.document(self.submit("--format", "json", *arguments, **options), exit_code)

    def serve(self, *arguments):
        """A target in another process; its ready object, and the process."""
        process = self.start("--serve", "--format", "json", *arguments)
        line = process.stdout.readline()
        self.assertTrue(line, "the target does not serve")
        return json.loads(line), process

    def stop(self, process, exit_code=0):
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=TIME_LIMIT)
        self.assertEqual((process.returncode, err), (exit_code, ""))
        return out


def executions(document):
    return {result["name"]: result["execution"] for result in document["results"]}


def statuses(document):
    return {name: execution and execution["status"] for name, execution in executions(document).items()}


__all__ = [name for name in globals() if not name.startswith("_")]
os.environ.pop("NO_COLOR", None)
