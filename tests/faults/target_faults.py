"""Targets that are killed, or stand still."""

import concurrent.futures
import contextlib
import time

import process
from engine import READ, WRITE, Engine, TentError
from fault_case import (CONNECT, CONTROL, DONE, ENCRYPTED, KINDS, LOST, MAPPED, MARGIN, PIECE, SIZE, STALLED, TCP, Case)
from memory import digest, pattern
from waiting import wait_for


class Killed(Case):
    def test_a_target_that_was_killed_before_it_is_connected_to(self):
        for kind in KINDS:
            target, initiator = self.target(kind), self.engine(kind)
            target.kill()
            seen, ways = self.opening(initiator, target.address)
            self.row("killed before connect", kind.name, CONTROL + MARGIN, seen, ways,
                     {("refused", "peer_unreachable")})

    def test_a_target_that_is_killed_during_the_handshake(self):
        def one(kind):
            target, initiator = self.target(kind), self.engine(kind)
            target.stop()
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                opening = pool.submit(self.opening, initiator, target.address)
                wait_for(lambda: process.established(target.port))
                began = time.monotonic()
                target.kill()
                _, ways = opening.result()
            self.row("killed during handshake", kind.name, CONTROL + MARGIN, time.monotonic() - began, ways,
                     {("refused", "peer_unreachable")})

        self.each(one, [TCP, MAPPED])

    def test_a_target_that_is_killed_before_the_first_transfer(self):
        for kind in KINDS:
            target, initiator = self.target(kind), self.engine(kind)
            memory, segment = initiator.memory(4096), initiator.open(target.address)
            target.kill()
            batch = initiator.batch(1).submit(segment, READ, [(memory.address, target.memory, 4096)])
            bound = CONTROL + CONNECT + MARGIN
            self.row("killed before the first transfer", kind.name, bound, *self.ending(batch, bound), LOST)

    def test_a_target_that_is_killed_in_the_middle_of_transfers(self):
        for kind in KINDS:
            for opcode in (READ, WRITE):
                with self.subTest(kind=kind.name, opcode=opcode):
                    target, initiator = self.target(kind), self.engine(kind)
                    batch, memory, _ = self.begin(initiator, target, opcode, 1024)
                    self.begun(batch)
                    target.kill()
                    bound = CONTROL + CONNECT + MARGIN
                    seen, ways = self.ending(batch, bound)
                    self.row(f"killed in the middle of {'writes' if opcode else 'reads'}", kind.name, bound, seen, ways,
                             LOST | {DONE})
                    self.assertTrue({way[:2] for way in ways} & LOST, "all had ended before it was killed")
                    if opcode == READ:
                        there = pattern(1, SIZE)
                        for at in {task * PIECE % SIZE for task, status in enumerate(batch.statuses())
                                   if status == "completed"}:
                            self.assertEqual(memory.digest(at, PIECE), digest(there[at:at + PIECE]))
                    batch.free()
                    initiator.destroy()

    def test_a_target_that_is_killed_after_a_transfer(self):
        for kind in KINDS:
            target, initiator = self.target(kind), self.engine(kind)
            memory, segment = initiator.memory(SIZE), initiator.open(target.address)
            self.move(initiator, segment, READ, memory.address, target.memory, SIZE)
            target.kill()
            self.assertEqual(memory.digest(), digest(pattern(1, SIZE)))
            batch = initiator.batch(1).submit(segment, READ, [(memory.address, target.memory, 4096)])
            bound = CONTROL + CONNECT + MARGIN
            self.row("killed after a transfer; the next", kind.name, bound, *self.ending(batch, bound), LOST)
            initiator.close(segment)


class Stopped(Case):
    def test_a_target_that_stands_still_when_it_is_connected_to(self):
        def one(kind):
            target, initiator = self.target(kind), self.engine(kind)
            target.stop()
            seen, ways = self.opening(initiator, target.address)
            self.row("stopped before connect", kind.name, CONTROL + MARGIN, seen, ways, {("refused", "timeout")})
            target.go_on()
            self.assertEqual(self.opening(initiator, target.address)[1], [("open", "", "")])

        self.each(one, [TCP, MAPPED])

    def test_a_target_that_stands_still_before_the_first_transfer(self):
        # shm is connected when a segment is opened, and then needs the target's process for new regions only.
        def one(kind):
            target, initiator = self.target(kind), self.engine(kind)
            memory, segment = initiator.memory(4096), initiator.open(target.address)
            target.stop()
            batch = initiator.batch(1).submit(segment, READ, [(memory.address, target.memory, 4096)])
            bound = CONTROL + CONNECT + MARGIN
            self.row("stopped before the first transfer", kind.name, bound, *self.ending(batch, bound),
                     {("timeout", "timeout")} if kind.is_tcp else {("failed", "peer_lost"), DONE})

        self.each(one)

    def test_a_target_that_is_stopped_in_the_middle_of_transfers(self):
        def one(case):
            kind, budget = case
            target, initiator = self.target(kind), self.engine(kind)
            memory, segment = initiator.memory(SIZE), initiator.open(target.address)
            self.transfer(initiator, segment, READ, memory.address, target.memory, 4096)
            target.stop()
            batch = initiator.batch(16).submit(segment, WRITE, self.pieces(memory.address, target.memory, 16),
                                               deadline_budget_ns=budget)
            bound = STALLED + CONTROL + MARGIN
            fault = f"stopped in the middle, {'without a' if budget is None else 'a passed'} deadline"
            with self.assertRaises(TentError) if kind.is_tcp else contextlib.nullcontext() as waited:
                batch.wait(0.01 if kind.is_tcp else bound)  # a caller need not wait for the end
            if kind.is_tcp:
                self.assertEqual(waited.exception.reason, "timeout")
                batch.cancel()  # what is on its way goes on to its end
            allowed = {("failed", "peer_lost"), ("canceled", "canceled")} if kind.is_tcp else {DONE}
            self.row(fault, kind.name, bound, *self.ending(batch, bound), allowed)
            target.go_on()
            self.move(initiator, segment, READ, memory.address, target.memory, 4096)

        self.each(one, [(kind, budget) for kind in KINDS for budget in (None, 100_000_000)])

    def test_a_target_that_is_stopped_and_goes_on_is_waited_for(self):
        for kind in KINDS:
            target = self.target(kind)
            initiator = Engine(**{**kind.keys, "transports__tcp__stall_timeout_ms": 60_000})
            self.ends.callback(initiator.destroy)
            batch, memory, segment = self.begin(initiator, target, WRITE, 64)
            self.begun(batch)
            began = time.monotonic()
            target.stop()
            target.go_on()
            batch.wait(60 + MARGIN)
            self.row("stopped and continued", kind.name, 60 + MARGIN, time.monotonic() - began, batch.errors(), {DONE})
            self.assertEqual(target("digest", address=target.memory), memory.digest())

    def test_waiting_for_a_target_that_stands_still_does_not_spin(self):
        for kind in (TCP, ENCRYPTED):
            target, initiator = self.target(kind), self.engine(kind)
            memory, segment = initiator.memory(SIZE), initiator.open(target.address)
            self.transfer(initiator, segment, READ, memory.address, target.memory, 4096)
            target.stop()
            batch = initiator.batch(16).submit(segment, WRITE, self.pieces(memory.address, target.memory, 16))
            before, began = process.cpu_seconds(), time.monotonic()
            batch.wait(60)
            used, seen = process.cpu_seconds() - before, time.monotonic() - began
            self.measured("processor time while a peer stands still", kind.name, "0.3 s/s", f"{used / seen:.3f} s/s")
            self.assertLess(used / seen, 0.3)
