"""Engines in processes that tests start, stop and kill.

    worker.py LIBRARY          reads a command a line, {"do": NAME, ...}, and answers with a line
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import process
from engine import LIBRARY, READ, TENT, TERMINAL, Engine, TentError, call
from waiting import wait_for


class Worker:
    """A process that does what it is told: `worker("start", rpc_server_port=0)`. Killed at the end of the `with`."""

    def __init__(self, *prefix, **keys):
        """`prefix`: a command that runs it. `keys`: the configuration of the engine that it starts with, if any."""
        command = [*prefix, sys.executable, "-B", str(Path(__file__).resolve()), str(LIBRARY)]
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.pid, self.pending, self.address = self.process.pid, b"", None
        if keys:
            self.start(**keys)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    @property
    def port(self):
        return int(self.address.rpartition(":")[2])

    def start(self, **keys):
        self.address = self("start", **keys)
        return self.address

    def __call__(self, do, **arguments):
        self.send(do, **arguments)
        return self.answer()

    def send(self, do, **arguments):
        self.process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")

    def answer(self, seconds=60):
        until = time.monotonic() + seconds
        while b"\n" not in self.pending:
            if not select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]:
                raise AssertionError(f"the process did not answer within {seconds} s")
            data = self.process.stdout.read(65536)
            if not data:
                raise AssertionError(f"the process has ended with status {self.process.wait()}")
            self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"], answer["message"])
        return answer["value"]

    def stop(self):
        """Stops it, and waits until it stands still."""
        os.kill(self.pid, signal.SIGSTOP)
        wait_for(lambda: all(state == "T" for state in self.states()))

    def states(self):
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                yield (task / "stat").read_text().rpartition(")")[2].split()[0]

    def go_on(self):
        os.kill(self.pid, signal.SIGCONT)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for file in (self.process.stdin, self.process.stdout):
            file.close()


class WorkerError(Exception):
    def __init__(self, reason, message):
        self.reason, self.message = reason, message
        super().__init__(f"{reason}: {message}")


class Commands:
    """What a worker does."""

    def __init__(self):
        self.engine = None
        self.segments = {}
        self.batches = {}
        self.ballast = []

    def start(self, **keys):
        self.engine = Engine(**keys)
        return self.engine.address

    def destroy(self):
        began = time.monotonic()
        self.engine.destroy()
        return time.monotonic() - began

    def memory(self, size, allocated=False, seed=None, at=None):
        """`at`: an address for memory of the application."""
        return self.engine.memory(size, allocated, at, seed).address

    def fill(self, address, seed):
        self.engine.memories[address].fill(seed)

    def digest(self, address, offset=0, size=None):
        return self.engine.memories[address].digest(offset, size)

    def register(self, address):
        memory = self.engine.memories[address]
        call("register_memory", self.engine.handle, memory.address, memory.size)

    def unregister(self, address):
        """Seconds that it took."""
        began = time.monotonic()
        self.engine.unregister(self.engine.memories[address])
        return time.monotonic() - began

    def free(self, address):
        began = time.monotonic()
        self.engine.free(self.engine.memories[address])
        return time.monotonic() - began

    def reset(self, port=None):
        """Resets the connections that peers have to this process: all, or those to one port. How many there were."""
        libc, count = ctypes.CDLL(None, use_errno=True), 0
        for fd in map(int, os.listdir("/proc/self/fd")):
            try:
                with socket.socket(fileno=os.dup(fd)) as connection:
                    if connection.family != socket.AF_INET or not connection.getpeername():
                        continue
                    if port in (None, connection.getsockname()[1]):
                        nowhere = bytes(16)  # AF_UNSPEC: an established connection is reset, not ended
                        count += libc.connect(connection.fileno(), nowhere, len(nowhere)) == 0
            except OSError:
                continue
        return count

    def limit_files(self, more):
        """Room for so many more descriptors; None: for as many as may be. Those that are free below count too."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        while self.ballast:
            os.close(self.ballast.pop())
        if more is None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
            return soft
        for _ in range(process.descriptors() + more + 64):
            self.ballast.append(os.open("/dev/null", os.O_RDONLY))
        highest = self.ballast[-1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, hard))
        for _ in range(more):
            os.close(self.ballast.pop())
        return highest

    def limit(self, name, value):
        _, hard = resource.getrlimit(getattr(resource, name))
        resource.setrlimit(getattr(resource, name), (hard if value is None else value, hard))

    def count_descriptors(self):
        return process.descriptors()

    def open(self, address):
        """How opening went: seconds, reason ("" for none), message."""
        began = time.monotonic()
        try:
            self.segments[address] = self.engine.open(address)
        except TentError as error:
            return [time.monotonic() - began, error.reason, error.message]
        return [time.monotonic() - began, "", ""]

    def transfer(self, address, opcode, local, remote, length, count=1, span=None):
        """Submits transfers, one beside the other within `span` bytes, over and over."""
        offsets = [i * length % (span or length) for i in range(count)]
        pieces = [(local + offset, remote + offset, length) for offset in offsets]
        self.batches[address] = self.engine.batch(count).submit(self.segments[address], opcode, pieces)

    def ended(self, address):
        return sum(status in TERMINAL for status in self.batches[address].statuses())

    def wait(self, address, seconds):
        """How the transfers ended: seconds, and (status, reason, message) for each way."""
        began = time.monotonic()
        batch = self.batches[address].wait(seconds)
        return [time.monotonic() - began, batch.errors()]

    def load_config(self, path):
        TENT.tent_load_config_from_file(path.encode())

    def batch_descriptor(self, address):
        return self.batches[address].descriptor()

    def action_of_sigpipe(self):
        return signal.getsignal(signal.SIGPIPE).name

    def fork_and_read(self, keys, remote, size):
        """The digest of what a child that this process forks reads of it, with an engine that it makes."""
        answer, told = os.pipe()
        child = os.fork()
        if child == 0:
            with contextlib.suppress(Exception):
                engine = Engine(**keys)
                memory = engine.memory(size)
                segment = engine.open(self.engine.address)
                engine.batch(1).submit(segment, READ, [(memory.address, remote, size)]).wait(30)
                os.write(told, str(memory.digest()).encode())
                engine.destroy()
            os._exit(0)  # the parent's engine is not this process's to end
        os.close(told)
        with os.fdopen(answer) as text:
            read = text.read()
        os.waitpid(child, 0)
        return int(read or -1)

    def fill_folder(self, folder):
        """Writes to a folder's filesystem until there is no room."""
        written = 0
        with open(Path(folder) / "full", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                written += file.write(bytes(65536)) or 0
        return written


def serve():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the interpreter ignores it, and applications need not
    commands = Commands()
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            answer = {"value": getattr(commands, request.pop("do"))(**request)}
        except TentError as error:
            answer = {"error": error.reason, "message": error.message}
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": type(error).__name__, "message": str(error)}
        answers.write(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    serve()
