"""What the fault tables' tests share: transports, engines and processes, the library's limits, and the table's rows."""

import concurrent.futures
import contextlib
import os
import signal
import sys
import tempfile
import time
import unittest

from engine import SANITIZED, TERMINAL, Engine, TentError
from memory import MIB
from waiting import wait_for
from worker import Worker

PLACE = tempfile.TemporaryDirectory()
os.environ["XDG_STATE_HOME"] = PLACE.name
signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the interpreter ignores it, and applications need not

# The library's limits, in seconds.
CONTROL = 5.0    # for one exchange over the control channel, connecting included; not configurable
CONTROL_SILENCE = 60.0  # after that a control connection ends whose other end has gone without a word; the same
CONNECT = 2.0    # transports.tcp.connect_timeout_ms, set here
STALL = 1.5      # transports.tcp.stall_timeout_ms, set here; looked at each quarter of it
STALLED = STALL * 1.25
STILL_USED = 2.0  # of unregistering: what holds the memory gives it up, or its connections are closed
MARGIN = 20.0 if SANITIZED else 5.0

ADDRESS = None if SANITIZED else 0x200000000000  # that is free in every process; a sanitizer has its own memory there
SIZE = (4 if SANITIZED else 16) * MIB
PIECE = SIZE // 4
ROWS = []  # of the table: fault, transport, what is expected, bound, seen, outcome


def worded(ways):
    """Ways to end, (status, reason, ...), in words."""
    return ", ".join(sorted({f"{way[0]} {way[1]}".strip() for way in ways}))


class Kind:
    """A transport, and whose memory the target's is."""

    def __init__(self, name, allocated, **keys):
        self.name, self.allocated = name, allocated
        self.keys = {"transports__tcp__stall_timeout_ms": int(STALL * 1000),
                     "transports__tcp__connect_timeout_ms": int(CONNECT * 1000), **keys}

    @property
    def is_tcp(self):
        return self.name.startswith("tcp")


KINDS = [Kind("tcp", False, transports__shm__enable=False),
         Kind("tcp encrypted", False, transports__shm__enable=False, auth__encrypt_data=True),
         Kind("shm mapped", True, transports__tcp__enable=False),
         Kind("shm copied", False, transports__tcp__enable=False)]
TCP, ENCRYPTED, MAPPED, COPIED = KINDS


class Case(unittest.TestCase):
    def setUp(self):
        began = time.monotonic()
        if os.environ.get("TIMES"):
            self.addCleanup(lambda: print(f"{time.monotonic() - began:.1f}", self.id(), file=sys.stderr))
        self.ends = contextlib.ExitStack()
        self.addCleanup(self.ends.close)

    # ---- what tests need

    def engine(self, kind, **keys):
        made = Engine(**kind.keys, **keys)
        self.ends.callback(made.destroy)
        return made

    def worker(self, *prefix, **keys):
        return self.ends.enter_context(Worker(*prefix, **keys))

    def target(self, kind, seed=1, size=SIZE, **keys):
        """A process with memory to be reached; `memory` is its address."""
        target = self.worker(**kind.keys, **keys)
        target.memory = target("memory", size=size, allocated=kind.allocated, seed=seed)
        return target

    def each(self, function, kinds=KINDS):
        """All at once: what they do is to wait."""
        with concurrent.futures.ThreadPoolExecutor(len(kinds)) as pool:
            for result in [pool.submit(function, kind) for kind in kinds]:
                result.result()

    def row(self, fault, transport, bound, seen, ways, allowed):
        """`ways`: (status, reason, message) of each way in which it ended; `allowed`: those that it may."""
        outcome = worded(ways)
        ROWS.append((fault, transport, worded(allowed), f"{bound:.1f} s", f"{seen:.3f} s", outcome))
        for status, reason, message in ways:
            self.assertIn((status, reason), allowed, f"{fault}, {transport}: {message}")
            if reason:
                self.assertGreater(len(message), 15, f"{fault}, {transport}: {reason} without a sentence")
        self.assertLessEqual(seen, bound, f"{fault}, {transport}: {outcome}")

    def measured(self, what, transport, bound, seen, note=""):
        """Of what has no end that could be one or another."""
        ROWS.append((what, transport, "", bound, seen, note))

    def not_tried(self, fault, why):
        """A test that cannot be run here is no test that has passed: the table says so."""
        ROWS.append((fault, "", "", "", "", f"NOT TRIED: {why}"))
        self.skipTest(why)

    def opening(self, initiator, address):
        """How opening a segment goes: seconds and the ways."""
        began = time.monotonic()
        try:
            initiator.open(address)
            ways = [("open", "", "")]
        except TentError as error:
            ways = [("refused", error.reason, error.message)]
        return time.monotonic() - began, ways

    def pieces(self, local, remote, count):
        """Parts of both, over and over."""
        offsets = [i * PIECE % SIZE for i in range(count)]
        return [(local + offset, remote + offset, PIECE) for offset in offsets]

    def begin(self, initiator, target, opcode, count, **more):
        """A batch of which the first transfer has ended and others are in flight; the memory here; the segment."""
        memory = initiator.memory(SIZE)
        memory.fill(2)
        segment = initiator.open(target.address)
        batch = initiator.batch(count)
        batch.submit(segment, opcode, self.pieces(memory.address, target.memory, count), **more)
        return batch, memory, segment

    def begun(self, batch):
        wait_for(lambda: batch.status(0) in TERMINAL)

    def ending(self, batch, bound):
        """Seconds until all have ended, and how."""
        began = time.monotonic()
        batch.wait(bound + 30)
        seen = time.monotonic() - began
        self.assertTrue(set(batch.statuses()) <= TERMINAL)
        return seen, batch.errors()

    def move(self, *arguments):
        """A transfer with which nothing is wrong."""
        self.assertEqual(self.transfer(*arguments), [(*DONE, "")])

    def transfer(self, initiator, segment, opcode, local, remote, length, seconds=30):
        return initiator.batch(1).submit(segment, opcode, [(local, remote, length)]).wait(seconds).errors()


DONE = ("completed", "")
LOST = {("failed", "peer_lost"), ("failed", "peer_unreachable")}
