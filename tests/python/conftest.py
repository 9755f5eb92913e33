"""An engine of this process's, and a peer in another one."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import tent

SIZE = 4 << 20


class Peer:
    """A process with memory that its peers may reach."""

    def __init__(self, config="{}", size=SIZE):
        self.process = subprocess.Popen([sys.executable, "-B", Path(__file__).parent / "peer.py", config, str(size)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        described = json.loads(self.process.stdout.readline())
        self.name = described["name"]
        self.memory = tent.Remote(self.name, described["base"], size)
        self.read_only = tent.Remote(self.name, described["read_only"], 4096)

    def do(self, command, *numbers):
        print(command, *numbers, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def crc(self, offset, length):
        return self.do("crc", offset, length)

    def fill(self, offset, length, byte):
        self.do("fill", offset, length, byte)

    @contextlib.contextmanager
    def stopped(self):
        """The process answers nobody until the end of `with`."""
        os.kill(self.process.pid, signal.SIGSTOP)
        tasks = Path(f"/proc/{self.process.pid}/task")
        while any((task / "stat").read_text().rpartition(")")[2].split()[0] != "T" for task in tasks.iterdir()):
            pass  # each of its threads stops by itself
        try:
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


@pytest.fixture(scope="session")
def peer():
    started = Peer()
    yield started
    started.end()


@pytest.fixture
def engine():
    with tent.TransferEngine() as started:
        yield started


@pytest.fixture(params=["UNSPEC", "SHM", "TCP"])
def transport(request):
    return tent.TransportType[request.param]
