#!/usr/bin/env python3
"""Transfers of many sizes over each transport, while targets are killed, started again and stopped, and memory goes.

    soak.py LIBRARY [--seconds 60] [--seed N]

Each transport has an initiator in this process and two targets in processes of their own. What is known of a target's
memory is compared with every byte that is read, and from time to time with what the target itself sees. What a
failed write may have touched is unknown until it is written again. Ends with 1 where a byte is wrong, where a transfer
does not end, or where it ends in a way that the faults do not explain.
"""

import argparse
import collections
import contextlib
import os
import random
import sys
import tempfile
import threading
import time

import process
from engine import READ, TERMINAL, WRITE, Engine, TentError
from memory import MIB, digest, pattern
from worker import Worker

SIZE = 16 * MIB
LARGEST = 2 * MIB
STALL = 2.0
# The longest that a transfer may take: a stall, a control exchange for the next connection, other work of the machine.
BOUND = 60.0
EXPLAINED = {"peer_lost", "peer_unreachable", "stale_segment", "out_of_range", "timeout", "canceled"}
FAST = {"transports__tcp__stall_timeout_ms": int(STALL * 1000), "transports__tcp__connect_timeout_ms": 2000}
KINDS = {
    "tcp": {"transports__shm__enable": False, **FAST},
    "tcp encrypted": {"transports__shm__enable": False, "auth__encrypt_data": True, **FAST},
    "shm": {"transports__tcp__enable": False},
}


class Wrong(Exception):
    pass


class Target:
    """A target's process, and what is known of its memory."""

    def __init__(self, keys, allocated, chance):
        self.keys, self.allocated, self.random = keys, allocated, chance
        self.generation = 0
        self.worker = None
        self.start()

    def start(self, port=0):
        if self.worker is not None:
            self.worker.kill()
        self.generation += 1
        self.worker = Worker(**self.keys, rpc_server_port=port)
        self.make_memory()

    def make_memory(self):
        seed = self.random.getrandbits(32)
        self.memory = self.worker("memory", size=SIZE, allocated=self.allocated, seed=seed)
        self.content = bytearray(pattern(seed, SIZE))
        self.unknown = []

    def forget(self, offset, length):
        self.unknown.append((offset, offset + length))

    def learn(self, offset, data):
        """These bytes are there now."""
        end = offset + len(data)
        self.content[offset:end] = data
        rest = []
        for begin, until in self.unknown:
            if begin < offset:
                rest.append((begin, min(until, offset)))
            if until > end:
                rest.append((max(begin, end), until))
        self.unknown = rest

    def known(self, offset, length):
        return all(until <= offset or begin >= offset + length for begin, until in self.unknown)


class Course:
    """What one transport goes through, until the time is up."""

    def __init__(self, name, keys, seed, seconds):
        self.name, self.keys, self.seconds = name, keys, seconds
        self.random = random.Random(f"{seed} {name}")
        self.pool = self.random.randbytes(2 * SIZE)  # of which writes take parts
        self.counts = collections.Counter()
        self.slowest = 0.0
        self.failure = None
        self.segments = {}

    def run(self):
        try:
            with contextlib.ExitStack() as ends:
                self.engine = Engine(**self.keys)
                ends.callback(self.engine.destroy)
                # Memory of the target's engine and of its application: over shm, mapped and copied.
                self.targets = [Target(self.keys, allocated, self.random) for allocated in (True, False)]
                for target in self.targets:
                    ends.callback(lambda target=target: target.worker.kill())
                self.memory = self.engine.memory(SIZE)
                until = time.monotonic() + self.seconds
                while time.monotonic() < until:
                    self.step()
                for target in self.targets:
                    self.compare_all(target)
                self.close_all()
        except Exception as failure:  # pylint: disable=broad-except
            self.failure = failure

    def step(self):
        target = self.random.choice(self.targets)
        fault = self.random.choices([None, "killed", "restarted on its port", "stopped", "unregistered", "reset"],
                                    [200, 3, 3, 4, 4, 4 if self.name != "shm" else 0])[0]
        if self.random.random() < 0.05:
            self.compare_all(target)
        self.transfers(target, fault)

    # ---- transfers

    def transfers(self, target, fault):
        """Some at once, in ranges of their own, and a fault in the middle of them."""
        opcode = self.random.choice((READ, WRITE))
        count = self.random.choice((1, 4, 16)) if fault is None else 64
        pieces, at = [], 0
        for _ in range(count):
            length = min(self.length() if fault is None else SIZE // count, SIZE - at)
            if length <= 0:
                break
            pieces.append((at, length))
            at += length
        if opcode == WRITE:
            begin = self.random.randrange(SIZE)
            self.memory.view[:at] = self.pool[begin:begin + at]
        began = time.monotonic()
        try:
            batch = self.engine.batch(len(pieces))
            batch.submit(self.segment(target), opcode,
                         [(self.memory.address + at, target.memory + at, length) for at, length in pieces])
        except TentError as error:
            return self.refused(target, error)
        if fault is not None:
            self.counts[f"fault: {fault}"] += 1
            afterwards = getattr(self, fault.split()[0])(target)
        try:
            batch.wait(BOUND)
        except TentError as error:
            raise Wrong(f"not ended after {BOUND} s, {fault}: {error}") from error
        self.slowest = max(self.slowest, time.monotonic() - began)
        for task, ((at, length), status) in enumerate(zip(pieces, batch.statuses())):
            if status not in TERMINAL:
                raise Wrong(f"task {task} is {status} after its batch has ended")
            error = batch.error(task)
            if status == "completed":
                self.completed(target, opcode, at, length)
            elif error.reason not in EXPLAINED or (fault is None and not self.counts["faults"]):
                raise Wrong(f"{fault}: {error}")
            elif opcode == WRITE:
                target.forget(at, length)
            self.counts[f"{status} {error.reason}".strip()] += 1
        batch.free()
        if fault is not None:
            self.counts["faults"] += 1
            afterwards()

    def completed(self, target, opcode, at, length):
        if opcode == WRITE:
            target.learn(at, self.memory.view[at:at + length])
            return
        if not target.known(at, length):
            return
        self.counts["bytes compared"] += length
        if bytes(self.memory.view[at:at + length]) != target.content[at:at + length]:
            raise Wrong(f"other bytes were read than there are, at {at}, {length} bytes")

    def length(self):
        return min(int(2 ** self.random.uniform(0, 21.1)), LARGEST)

    def refused(self, target, error):
        """A whole submission, because of a fault before."""
        if error.reason not in EXPLAINED or not self.counts["faults"]:
            raise Wrong(f"refused: {error}")
        self.counts[f"refused {error.reason}"] += 1
        self.close(target)

    def compare_all(self, target):
        """What the target itself sees, where that is known."""
        if target.unknown:
            return
        if target.worker("digest", address=target.memory) != digest(target.content):
            raise Wrong("the target has other bytes than were written")
        self.counts["bytes compared"] += SIZE

    # ---- segments

    def segment(self, target):
        key = id(target)
        if key not in self.segments:
            self.segments[key] = self.engine.open(target.worker.address)
        return self.segments[key]

    def close(self, target):
        segment = self.segments.pop(id(target), None)
        if segment is not None:
            self.engine.close(segment)

    def close_all(self):
        for target in self.targets:
            self.close(target)

    # ---- faults; each gives what is to be done once the transfers have ended

    def killed(self, target):
        target.worker.kill()

        def afterwards():
            self.close(target)
            target.start()

        return afterwards

    def restarted(self, target):
        port = target.worker.port
        target.worker.kill()

        def afterwards():
            target.start(port)
            # The other process is not taken for the one before: nothing gets into its memory.
            segment = self.segment(target)
            batch = self.engine.batch(1)
            try:
                batch.submit(segment, WRITE, [(self.memory.address, target.memory, 4096)]).wait(BOUND)
                reason = batch.error(0).reason
            except TentError as error:
                reason = error.reason
            if reason not in ("stale_segment", "out_of_range"):
                raise Wrong(f"another process at the port of the one before: {reason or 'taken for the same'}")
            self.counts[f"then {reason}"] += 1
            self.compare_all(target)
            self.close(target)

        return afterwards

    def stopped(self, target):
        target.worker.stop()
        if self.random.random() < 0.8:
            target.worker.go_on()
            return lambda: None
        return target.worker.go_on

    def unregistered(self, target):
        command = "free" if target.allocated else "unregister"
        target.worker(command, address=target.memory)
        return target.make_memory

    def reset(self, target):
        target.worker("reset")
        return lambda: None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    random.seed(options.seed)
    print(f"seed {options.seed}, {options.seconds:g} s", flush=True)
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_STATE_HOME"] = place
        Engine().destroy()  # loads the library, and makes the token
        before = process.descriptors()
        courses = [Course(name, keys, options.seed, options.seconds) for name, keys in KINDS.items()]
        threads = [threading.Thread(target=course.run) for course in courses]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    good = True
    for course in courses:
        print(f"\n{course.name}: the slowest batch took {course.slowest:.1f} s")
        for name, count in sorted(course.counts.items()):
            if name == "faults":
                continue
            print(f"  {count:>12} {name}")
        if course.failure is not None:
            good = False
            print(f"  FAILED: {type(course.failure).__name__}: {course.failure}")
    left = process.descriptors() - before, process.thread_names()
    print(f"\nleft behind: {left[0]} descriptors, threads {left[1]}")
    return good and left == (0, [])


if __name__ == "__main__":
    sys.exit(not main())
