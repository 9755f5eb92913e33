"""Engines that start, end, and come again."""

import concurrent.futures
import contextlib
import os
import socket
import statistics
import threading
import time
import unittest
from pathlib import Path

import process
from engine import READ, WRITE, Engine, TentError
from fault_case import (CONNECT, CONTROL, DONE, KINDS, LOST, MARGIN, PIECE, PLACE, SANITIZED, SIZE, STALL, STILL_USED,
                        ENCRYPTED, TCP, Case)
from memory import MIB, digest, pattern
from waiting import wait_for
from worker import WorkerError


class Starting(Case):
    def test_a_port_that_is_in_use(self):
        for key in ("rpc_server_port", "transports__tcp__port"):
            with socket.create_server(("127.0.0.1", 0)) as taken:
                began = time.monotonic()
                with self.assertRaises(TentError) as raised:
                    self.engine(TCP, **{key: taken.getsockname()[1]})
                error = raised.exception
                self.row(f"port in use ({key.replace('__', '.')})", "tcp", MARGIN, time.monotonic() - began,
                         [("refused", error.reason, error.message)],
                         {("refused", "io_error")})
                self.assertIn(str(taken.getsockname()[1]), error.message)

    def idle_workers(self, count):
        """Processes that are there; what takes time from here on is the library's."""
        workers = [self.worker() for _ in range(count)]
        for worker in workers:
            worker("count_descriptors")
        return workers

    def test_many_that_start_at_once_have_an_address_each(self):
        workers = self.idle_workers(6)
        began = time.monotonic()
        for worker in workers:
            worker.send("start")
        addresses = {worker.answer() for worker in workers}
        seen = time.monotonic() - began
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            engines = list(pool.map(lambda _: self.engine(TCP), range(16)))
        addresses |= {one.address for one in engines}
        self.assertEqual(len(addresses), 22)
        self.row("6 processes start at once", "tcp, shm", MARGIN, seen, [("started", "", "")], {("started", "")})

    def test_of_many_that_start_on_one_port_one_does(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        workers = self.idle_workers(6)
        began = time.monotonic()
        for worker in workers:
            worker.send("start", rpc_server_port=port)
        ways = []
        for worker in workers:
            try:
                worker.answer()
                ways.append(("started", "", ""))
            except WorkerError as error:
                ways.append(("refused", error.reason, error.message))
        self.assertEqual([way[0] for way in ways].count("started"), 1)
        self.row("6 processes start on one port", "tcp, shm", MARGIN, time.monotonic() - began, ways,
                 {("started", ""), ("refused", "io_error")})

    def test_a_token_that_was_replaced(self):
        path = Path(PLACE.name) / "replaced"
        path.touch(0o600)
        path.write_bytes(os.urandom(32))
        target = self.target(TCP, size=4096, auth__token_file=str(path))
        old = self.engine(TCP, auth__token_file=str(path))
        path.write_bytes(os.urandom(32))
        again = self.target(TCP, size=4096, auth__token_file=str(path))
        new = self.engine(TCP, auth__token_file=str(path))
        for fault, initiator, there in (("old token", old, again), ("new token, old target", new, target)):
            seen, ways = self.opening(initiator, there.address)
            self.row(fault, "control", CONTROL + MARGIN, seen, ways, {("refused", "auth_failed")})

    def test_another_token_and_none(self):
        target, other = self.target(TCP, size=4096), Path(PLACE.name) / "other"
        other.touch(0o600)
        other.write_bytes(os.urandom(32))
        for fault, keys in (("wrong token", {"auth__token_file": str(other)}), ("no token", {"auth__mode": "none"})):
            seen, ways = self.opening(self.engine(TCP, **keys), target.address)
            self.row(fault, "control", CONTROL + MARGIN, seen, ways, {("refused", "auth_failed")})

    def test_starting_and_stopping_take_milliseconds(self):
        started, stopped = [], []
        for _ in range(20):
            began = time.monotonic()
            one = Engine()
            started.append(time.monotonic() - began)
            began = time.monotonic()
            one.destroy()
            stopped.append(time.monotonic() - began)
        bound = 1.0 if SANITIZED else 0.1
        for name, times in (("starting", started), ("stopping", stopped)):
            median = statistics.median(times)
            self.measured(f"{name} an engine, median of 20", "tcp, shm", f"{bound} s", f"{median:.4f} s")
            self.assertLess(median, bound)


class Ending(Case):
    def test_an_engine_that_is_destroyed_with_transfers_in_flight(self):
        for kind in KINDS:
            target, initiator = self.target(kind), self.engine(kind)
            batch, memory, _ = self.begin(initiator, target, READ, 1024)
            self.begun(batch)
            began = time.monotonic()
            initiator.destroy()
            seen = time.monotonic() - began
            after = memory.digest()
            self.row("destroyed with transfers in flight", kind.name, MARGIN, seen, [("returned", "", "")],
                     {("returned", "")})
            with self.assertRaises(TentError) as raised:
                batch.status(0)
            self.assertEqual(raised.exception.reason, "null_engine")
            self.assertEqual(memory.digest(), after)

    def test_an_engine_that_is_destroyed_while_its_peer_stands_still(self):
        for kind in KINDS:
            target, initiator = self.target(kind), self.engine(kind)
            memory, segment = initiator.memory(SIZE), initiator.open(target.address)
            self.transfer(initiator, segment, READ, memory.address, target.memory, 4096)
            target.stop()
            initiator.batch(16).submit(segment, WRITE, self.pieces(memory.address, target.memory, 16))
            began = time.monotonic()
            initiator.destroy()
            self.row("destroyed while the peer stands still", kind.name, MARGIN, time.monotonic() - began,
                     [("returned", "", "")], {("returned", "")})

    def test_who_waits_is_told_when_the_engine_is_destroyed(self):
        for kind in (TCP, ENCRYPTED):
            target = self.target(kind)
            initiator = Engine(**{**kind.keys, "transports__tcp__stall_timeout_ms": 20_000})
            self.ends.callback(initiator.destroy)
            memory, segment = initiator.memory(SIZE), initiator.open(target.address)
            self.transfer(initiator, segment, READ, memory.address, target.memory, 4096)
            target.stop()
            batch = initiator.batch(16).submit(segment, WRITE, self.pieces(memory.address, target.memory, 16))
            waits = threading.Event()

            def wait(batch=batch, waits=waits):
                waits.set()
                with contextlib.suppress(TentError):  # it came too late
                    batch.wait()

            waiter = threading.Thread(target=wait)
            waiter.start()
            waits.wait()
            began = time.monotonic()
            initiator.destroy()
            seen = time.monotonic() - began
            waiter.join()
            self.row("destroyed while somebody waits", kind.name, MARGIN, seen, [("returned", "", "")],
                     {("returned", "")})

    def test_no_first_transfer_over_a_connection_waits_for_a_delayed_acknowledgement(self):
        for kind in (TCP, ENCRYPTED):
            target, initiator = self.target(kind, size=4096), self.engine(kind)
            memory, times = initiator.memory(4096), []
            for _ in range(11):
                segment = initiator.open(target.address)
                began = time.monotonic()
                self.transfer(initiator, segment, READ, memory.address, target.memory, 4096)
                times.append(time.monotonic() - began)
                initiator.close(segment)
            # Each of them would wait, for 40 ms; the best of several does not depend on how busy the machine is.
            best = min(times)
            self.measured("first transfer over a connection", kind.name, "0.03 s", f"{best:.3f} s")
            self.assertLess(best, 0.03)

    def test_a_target_that_is_destroyed_in_the_middle_of_transfers(self):
        for kind in KINDS:
            target, initiator = self.target(kind), self.engine(kind)
            batch, _, _ = self.begin(initiator, target, READ, 1024)
            self.begun(batch)
            took = target("destroy")
            self.row("destroying the target's engine", kind.name, STILL_USED + MARGIN, took, [("returned", "", "")],
                     {("returned", "")})
            bound = CONTROL + CONNECT + MARGIN
            seen, ways = self.ending(batch, bound)
            self.row("the target's engine destroyed in the middle", kind.name, bound, seen, ways,
                     LOST | {DONE, ("failed", "out_of_range")})
            self.assertIn("failed", batch.statuses())

    def test_threads_have_names_and_are_two_and_those_that_copy(self):
        for keys, expected in (({}, ["tent-control", "tent-copy-0", "tent-data"]),
                               ({"transports__shm__copy_threads": 3},
                                ["tent-control", "tent-copy-0", "tent-copy-1", "tent-copy-2", "tent-data"]),
                               ({"transports__shm__enable": False}, ["tent-control", "tent-data"])):
            target = self.target(TCP, size=4096)
            worker = self.worker(**{"transports__shm__copy_threads": 1, **keys})
            before = process.thread_count(worker.pid) - len(expected)
            # A thread gives itself its name.
            wait_for(lambda worker=worker, expected=expected: len(process.thread_names(worker.pid)) >= len(expected))
            # Also once a name was looked up and bytes have moved.
            local, address = worker("memory", size=4096), f"localhost:{target.port}"
            self.assertEqual(worker("open", address=address)[1], "")
            worker("transfer", address=address, opcode=READ, local=local, remote=target.memory, length=4096)
            self.assertEqual(worker("wait", address=address, seconds=30)[1], [["completed", "", ""]])
            names = process.thread_names(worker.pid)
            self.measured("threads of an engine", "tcp" if "transports__shm__enable" in keys else "tcp, shm",
                          str(len(expected)), str(len(names)), " ".join(names))
            self.assertEqual(names, expected)
            self.assertEqual(process.thread_count(worker.pid) - before, len(expected))
            worker("destroy")
            self.assertEqual(process.thread_names(worker.pid), [])
            self.assertEqual(process.thread_count(worker.pid), before)

    def test_no_program_that_the_application_starts_inherits_a_descriptor(self):
        for kind in KINDS:
            target, initiator = self.target(kind), self.worker(**kind.keys)
            local = initiator("memory", size=SIZE, allocated=True)
            self.assertEqual(initiator("open", address=target.address)[1], "")
            initiator("transfer", address=target.address, opcode=READ, local=local, remote=target.memory, length=PIECE,
                      count=512, span=SIZE)
            initiator("batch_descriptor", address=target.address)
            wait_for(lambda initiator=initiator, target=target: initiator("ended", address=target.address))
            for side, worker in (("initiator", initiator), ("target", target)):
                made, inherited = process.made_descriptors(worker.pid)
                self.measured(f"descriptors that a started program inherits: {side}", kind.name, "0",
                              str(len(inherited)), f"of {len(made)}; {' '.join(inherited)}".rstrip("; "))
                self.assertGreater(len(made), 5)
                self.assertEqual(inherited, [])
            initiator("wait", address=target.address, seconds=30)

    @unittest.skipIf(SANITIZED == "thread", "the thread sanitizer lets no child of several threads start one")
    def test_a_forked_child_may_have_an_engine_of_its_own(self):
        for kind in KINDS:
            parent = self.target(kind)
            began = time.monotonic()
            seen = parent("fork_and_read", keys=kind.keys, remote=parent.memory, size=SIZE)
            self.row("an engine in a forked child", kind.name, CONTROL + CONNECT + MARGIN, time.monotonic() - began,
                     [(*DONE, "")], {DONE})
            self.assertEqual(seen, digest(pattern(1, SIZE)))
            # The parent's is as it was.
            initiator = self.engine(kind)
            memory, segment = initiator.memory(SIZE), initiator.open(parent.address)
            self.move(initiator, segment, READ, memory.address, parent.memory, SIZE)

    def test_no_signal_tells_of_a_peer_that_has_gone(self):
        # The interpreter lets SIGPIPE pass; workers and this process have it end them, as it is without an interpreter.
        for kind in KINDS:
            target, initiator = self.target(kind), self.worker(**kind.keys)
            local = initiator("memory", size=SIZE)
            self.assertEqual(initiator("open", address=target.address)[1], "")
            self.assertEqual(initiator("action_of_sigpipe"), "SIG_DFL")
            initiator("transfer", address=target.address, opcode=WRITE, local=local, remote=target.memory, length=PIECE,
                      count=1024, span=SIZE)
            wait_for(lambda initiator=initiator, target=target: initiator("ended", address=target.address))
            target.kill()
            bound = CONTROL + CONNECT + MARGIN
            seen, ways = initiator("wait", address=target.address, seconds=bound)
            self.row("SIGPIPE when the target is killed", kind.name, bound, seen, ways, LOST | {DONE})
            self.assertEqual(initiator("open", address=target.address)[1], "")  # it is open already

    def test_an_idle_engine_uses_no_time(self):
        keys = {"transports__tcp__stall_timeout_ms": int(STALL * 1000)}
        target = self.worker(**keys)
        initiators = []
        for kind in KINDS:
            initiator = self.worker(**kind.keys)
            there = target("memory", size=MIB, allocated=kind.allocated)
            here = initiator("memory", size=MIB)
            self.assertEqual(initiator("open", address=target.address)[1], "")
            initiator("transfer", address=target.address, opcode=READ, local=here, remote=there, length=MIB)
            self.assertEqual(initiator("wait", address=target.address, seconds=30)[1], [["completed", "", ""]])
            initiators.append((kind.name, initiator))
        processes = [("target of these", target), *initiators]
        before = [process.cpu_seconds(worker.pid) for _, worker in processes]
        seconds = 3
        time.sleep(seconds)  # what is measured is that nothing happens
        for (name, worker), used in zip(processes, before):
            used = process.cpu_seconds(worker.pid) - used
            self.measured(f"processor time of an idle engine, {seconds} s", name, "0.03 s", f"{used:.2f} s")
            self.assertLessEqual(used, 0.031)  # three ticks of the clock that counts it


class Again(Case):
    def test_a_thousand_times_open_transfer_and_close_leave_nothing_behind(self):
        for kind in KINDS:
            target, initiator = self.target(kind, size=MIB), self.engine(kind)
            memory = initiator.memory(MIB)
            began = time.monotonic()

            def cycle():
                segment = initiator.open(target.address)
                batch = initiator.batch(1).submit(segment, READ, [(memory.address, target.memory, 65536)]).wait(30)
                self.assertEqual(batch.status(0), "completed")
                batch.free()
                initiator.close(segment)

            def settled():
                """What both use once the target has seen that nobody is connected."""
                wait_for(lambda: process.descriptors(target.pid) <= least)
                return [(process.descriptors(pid), len(process.thread_names(pid)), process.resident_bytes(pid))
                        for pid in ("self", target.pid)]

            least = process.descriptors(target.pid)
            warm_up, count = 200, 1000
            for _ in range(warm_up):
                cycle()
            before = settled()
            for _ in range(count):
                cycle()
            # A last connection of the initiator may be on its way to its end.
            wait_for(lambda: process.descriptors() <= before[0][0])
            after = settled()
            seen = time.monotonic() - began
            for side, was, now in zip(("initiator", "target"), before, after):
                grown = now[2] - was[2]
                self.measured(f"{count} cycles: {side}", kind.name, "0, 0, 1 MiB",
                              f"{now[0] - was[0]}, {now[1] - was[1]}, {grown // 1024} KiB",
                              f"descriptors, threads, memory; {seen:.1f} s")
                self.assertEqual(now[:2], was[:2])
                if not SANITIZED:  # it keeps what was freed for a while
                    self.assertLess(grown, MIB)  # 1 KiB a cycle would be a leak
