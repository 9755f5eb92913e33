"""What runs out: descriptors, memory, room."""

import subprocess
import time
import unittest
from pathlib import Path

import process
from engine import READ, TentError, call
from fault_case import (CONNECT, CONTROL, COPIED, DONE, ENCRYPTED, KINDS, LOST, MAPPED, MARGIN, PLACE, SANITIZED, SIZE,
                        TCP, Case)
from memory import MIB, digest, pattern
from worker import WorkerError

EXHAUSTED = ("refused", "resource_exhausted")


class Exhausted(Case):
    def test_an_engine_for_which_there_are_too_few_descriptors_does_not_start(self):
        worker = self.worker()
        # What is made once for all.
        worker("start", **TCP.keys)
        worker("destroy")
        slowest, ways, room = 0.0, set(), 0
        for room in range(64):
            before = worker("count_descriptors")
            worker("limit_files", more=room)
            began = time.monotonic()
            try:
                worker("start")
                break
            except WorkerError as error:
                ways.add(("refused", error.reason, error.message))
            slowest = max(slowest, time.monotonic() - began)
            worker("limit_files", more=None)
            self.assertEqual(worker("count_descriptors"), before)
        self.assertGreater(room, 5)
        self.assertLess(room, 63)
        self.row("no descriptors: starting", "tcp, shm", MARGIN, slowest, ways, {EXHAUSTED})
        for _, _, message in ways:
            self.assertIn("Too many open files", message)
            self.assertIn("ulimit -n", message)

    def test_a_configuration_that_cannot_be_read_for_want_of_a_descriptor(self):
        worker, path = self.worker(), Path(PLACE.name) / "config.json"
        path.write_text("{}", encoding="utf-8")
        worker("load_config", path=str(path))
        worker("limit_files", more=0)
        began = time.monotonic()
        with self.assertRaises(WorkerError) as raised:
            worker("start")
        error = raised.exception
        self.row("no descriptors: reading a configuration", "", MARGIN, time.monotonic() - began,
                 [("refused", error.reason, error.message)], {EXHAUSTED})
        self.assertIn("ulimit -n", error.message)
        self.assertIn(str(path), error.message)
        worker("limit_files", more=None)
        worker("load_config", path=str(path))
        worker("start")

    def test_an_initiator_that_is_out_of_descriptors_cannot_open_and_then_can(self):
        for kind in KINDS:
            target, initiator = self.target(kind), self.worker(**kind.keys)
            local = initiator("memory", size=MIB)
            slowest, ways, room = 0.0, set(), 0
            for room in range(8):
                initiator("limit_files", more=room)
                seen, reason, message = initiator("open", address=target.address)
                slowest = max(slowest, seen)
                if not reason:
                    break
                ways.add(("refused", reason, message))
                self.assertIn("ulimit -n", message)
                initiator("limit_files", more=None)
            self.assertFalse(reason)
            self.row(f"less than {room} descriptors: opening", kind.name, CONTROL + MARGIN, slowest, ways, {EXHAUSTED})
            initiator("limit_files", more=None)
            initiator("transfer", address=target.address, opcode=READ, local=local, remote=target.memory, length=MIB)
            self.assertEqual(initiator("wait", address=target.address, seconds=30)[1], [["completed", "", ""]])

    def test_a_name_that_cannot_be_looked_up_for_want_of_a_descriptor(self):
        target, initiator = self.target(TCP), self.worker(**TCP.keys)
        address = f"localhost:{target.port}"
        initiator("limit_files", more=0)
        seen, reason, message = initiator("open", address=address)
        self.row("no descriptors: looking up a name", "control", CONTROL + MARGIN, seen, [("refused", reason, message)],
                 {EXHAUSTED})
        self.assertIn("ulimit -n", message)
        initiator("limit_files", more=None)
        self.assertEqual(initiator("open", address=address)[1], "")

    def test_a_batch_for_whose_end_there_is_no_descriptor(self):
        target, initiator = self.target(TCP), self.worker(**TCP.keys)
        local, address = initiator("memory", size=MIB), target.address
        self.assertEqual(initiator("open", address=address)[1], "")
        initiator("transfer", address=address, opcode=READ, local=local, remote=target.memory, length=MIB)
        initiator("wait", address=address, seconds=30)
        initiator("limit_files", more=0)
        began = time.monotonic()
        with self.assertRaises(WorkerError) as raised:
            initiator("batch_descriptor", address=address)
        error = raised.exception
        self.row("no descriptors: a batch's own", "", MARGIN, time.monotonic() - began,
                 [("refused", error.reason, error.message)], {EXHAUSTED})
        self.assertIn("ulimit -n", error.message)
        initiator("limit_files", more=None)
        self.assertGreater(initiator("batch_descriptor", address=address), 2)

    def test_a_target_that_is_out_of_descriptors_is_waited_for_and_does_not_spin(self):
        def one(kind):
            target, initiator = self.target(kind), self.engine(kind)
            target("limit_files", more=0)
            before = process.cpu_seconds(target.pid)
            seen, ways = self.opening(initiator, target.address)
            used = process.cpu_seconds(target.pid) - before
            self.row("no descriptors at the target: opening", kind.name, CONTROL + MARGIN, seen, ways,
                     {("refused", "timeout"), ("refused", "peer_unreachable")})
            self.assertLess(used, 0.3 * max(seen, 1))
            target("limit_files", more=None)
            self.assertEqual(self.opening(initiator, target.address)[1], [("open", "", "")])

        self.each(one, [TCP, MAPPED])

    def test_a_target_that_is_out_of_descriptors_when_data_shall_flow(self):
        for kind in (TCP, ENCRYPTED):
            target, initiator = self.target(kind), self.engine(kind)
            memory, segment = initiator.memory(4096), initiator.open(target.address)
            target("limit_files", more=0)
            batch = initiator.batch(1).submit(segment, READ, [(memory.address, target.memory, 4096)])
            bound = CONTROL + CONNECT + MARGIN
            self.row("no descriptors at the target: a transfer", kind.name, bound, *self.ending(batch, bound),
                     LOST | {("timeout", "timeout")})
            target("limit_files", more=None)
            self.move(initiator, segment, READ, memory.address, target.memory, 4096)

    def test_an_initiator_that_is_out_of_descriptors_when_data_shall_flow(self):
        for kind in KINDS:
            target, initiator = self.target(kind), self.worker(**kind.keys)
            local = initiator("memory", size=MIB)
            self.assertEqual(initiator("open", address=target.address)[1], "")
            initiator("limit_files", more=0)
            arguments = {"opcode": READ, "local": local, "remote": target.memory, "length": MIB}
            initiator("transfer", address=target.address, **arguments)
            bound = CONTROL + CONNECT + MARGIN
            seen, ways = initiator("wait", address=target.address, seconds=bound)
            # Memory that is copied across processes needs none.
            self.row("no descriptors: a transfer", kind.name, bound, seen, ways,
                     {DONE} if kind is COPIED else {("failed", "resource_exhausted")})
            self.assertTrue(kind is COPIED or all("ulimit -n" in message for _, _, message in ways))
            initiator("limit_files", more=None)
            initiator("transfer", address=target.address, **arguments)
            self.assertEqual(initiator("wait", address=target.address, seconds=30)[1], [["completed", "", ""]])
            self.assertEqual(initiator("digest", address=local), digest(pattern(1, MIB)))


class Memory(Case):
    def test_memory_that_cannot_be_registered(self):
        for kind in KINDS:
            local = self.engine(kind)
            memory = local.memory(64 * 1024)
            slowest, ways = 0.0, set()
            for address, size in ((memory.address + 4096, 64 * 1024), (memory.address - 4096, 64 * 1024), (None, 4096),
                                  (memory.address, 0), (2**64 - 4096, 8192)):
                began = time.monotonic()
                with self.assertRaises(TentError) as raised:
                    call("register_memory", local.handle, address, size)
                slowest = max(slowest, time.monotonic() - began)
                ways.add(("refused", raised.exception.reason, raised.exception.message))
            self.row("registration fails", kind.name, MARGIN, slowest, ways, {("refused", "registration_failed")})

    @unittest.skipIf(SANITIZED, "a sanitizer needs address space without limit")
    def test_memory_that_cannot_be_allocated(self):
        for name, value in (("RLIMIT_FSIZE", MIB), ("RLIMIT_AS", 0), ("RLIMIT_NOFILE", None)):
            worker = self.worker(**MAPPED.keys)
            before = worker("count_descriptors")
            if name == "RLIMIT_NOFILE":
                worker("limit_files", more=0)
            else:
                used = int(Path(f"/proc/{worker.pid}/statm").read_text().split()[0]) * 4096
                worker("limit", name=name, value=value or used + 16 * MIB)
            began = time.monotonic()
            with self.assertRaises(WorkerError) as raised:
                worker("memory", size=256 * MIB, allocated=True)
            error = raised.exception
            self.row(f"allocation over {name}", "shm mapped", MARGIN, time.monotonic() - began,
                     [("refused", error.reason, error.message)], {("refused", "resource_exhausted")})
            if name == "RLIMIT_NOFILE":
                worker("limit_files", more=None)
            else:
                worker("limit", name=name, value=None)
            self.assertEqual(worker("count_descriptors"), before)
            worker("memory", size=MIB, allocated=True)

    def test_a_full_dev_shm_is_in_nobodys_way(self):
        mount = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=256k tmpfs /dev/shm && exec "$@"', "sh"]
        tried = subprocess.run([*mount, "true"], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            self.not_tried("/dev/shm is full", f"no filesystem can be mounted here: {tried.stderr.strip()}")
        for kind in (MAPPED, COPIED):
            target, initiator = self.worker(*mount), self.engine(kind)
            self.assertLessEqual(target("fill_folder", folder="/dev/shm"), 256 * 1024)
            target.start(**kind.keys)
            began = time.monotonic()
            remote = target("memory", size=SIZE, allocated=kind.allocated, seed=1)
            memory, segment = initiator.memory(SIZE), initiator.open(target.address)
            ways = self.transfer(initiator, segment, READ, memory.address, remote, SIZE)
            self.row("/dev/shm is full", kind.name, CONTROL + MARGIN, time.monotonic() - began, ways, {DONE})
            self.assertEqual(memory.digest(), digest(pattern(1, SIZE)))
