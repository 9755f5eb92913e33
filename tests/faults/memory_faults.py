"""Memory that goes while it is used, or is another process's all of a sudden."""

from engine import READ, WRITE, TentError
from fault_case import (ADDRESS, CONNECT, CONTROL, DONE, KINDS, MARGIN, PIECE, SIZE, STALLED, STILL_USED, Case)
from memory import MIB
from waiting import wait_for


class Gone(Case):
    def test_a_buffer_that_is_unregistered_during_transfers(self):
        for kind in KINDS:
            for opcode in (READ, WRITE):
                with self.subTest(kind=kind.name, opcode=opcode):
                    target, initiator = self.target(kind), self.engine(kind)
                    batch, _, segment = self.begin(initiator, target, opcode, 384 * MIB // PIECE if kind.is_tcp else 1024)
                    self.begun(batch)
                    # Allocated memory is unregistered when it is freed.
                    took = target("free" if kind.allocated else "unregister", address=target.memory)
                    what = "writes" if opcode else "reads"
                    self.row(f"unregistering during {what}", kind.name, STILL_USED + MARGIN, took,
                             [("returned", "", "")], {("returned", "")})
                    before = None if kind.allocated else target("digest", address=target.memory)
                    bound = CONTROL + CONNECT + MARGIN
                    seen, ways = self.ending(batch, bound)
                    self.row(f"buffer unregistered during {what}", kind.name, bound, seen, ways,
                             {DONE, ("failed", "out_of_range"), ("failed", "peer_lost")})
                    self.assertIn("failed", batch.statuses())
                    if before is not None:  # nothing of a peer's touches it after that
                        self.assertEqual(target("digest", address=target.memory), before)
                    with self.assertRaises(TentError) as raised:
                        self.transfer(initiator, segment, opcode, initiator.memory(4096).address, target.memory, 4096)
                    self.assertEqual(raised.exception.reason, "out_of_range")
                    initiator.destroy()

    def test_a_buffer_that_is_unregistered_while_a_peer_stands_still(self):
        for kind in KINDS:
            target, initiator = self.target(kind), self.worker(**kind.keys)
            local = initiator("memory", size=SIZE)
            self.assertEqual(initiator("open", address=target.address)[1], "")
            arguments = {"opcode": WRITE, "local": local, "remote": target.memory, "length": PIECE, "count": 64,
                         "span": SIZE}
            initiator("transfer", address=target.address, **arguments)
            wait_for(lambda: initiator("ended", address=target.address))
            initiator.stop()
            took = target("free" if kind.allocated else "unregister", address=target.memory)
            self.row("unregistering while a peer stands still", kind.name, 2 * STILL_USED + MARGIN, took,
                     [("returned", "", "")], {("returned", "")})
            initiator.go_on()
            bound = STALLED + CONTROL + MARGIN
            seen, ways = initiator("wait", address=target.address, seconds=bound)
            self.row("the same, as the peer sees it", kind.name, bound, seen, ways,
                     {DONE, ("failed", "out_of_range"), ("failed", "peer_lost"), ("failed", "peer_unreachable")})

    def test_a_target_that_is_started_again_with_other_memory(self):
        for kind in KINDS:
            at = None if kind.allocated else ADDRESS
            target, initiator = self.worker(**kind.keys), self.engine(kind)
            remote = target("memory", size=MIB, allocated=kind.allocated, seed=1, at=at)
            memory, segment = initiator.memory(MIB), initiator.open(target.address)
            self.move(initiator, segment, READ, memory.address, remote, MIB)
            port = target.port
            target.kill()
            again = self.worker(**kind.keys, rpc_server_port=port)
            there = again("memory", size=MIB, allocated=kind.allocated, seed=3, at=at)
            before = again("digest", address=there)
            bound = CONTROL + CONNECT + MARGIN
            batch = initiator.batch(16)
            batch.submit(segment, WRITE, [(memory.address, remote, 4096)] * 16)
            self.row("another process at the same port", kind.name, bound, *self.ending(batch, bound),
                     {("failed", "stale_segment"), ("failed", "peer_lost")})
            batch = initiator.batch(1).submit(segment, WRITE, [(memory.address, remote, 4096)])
            seen, ways = self.ending(batch, bound)
            self.row("the same, once more", kind.name, bound, seen, ways, {("failed", "stale_segment")})
            self.assertEqual(again("digest", address=there), before)
            initiator.close(segment)
            segment = initiator.open(again.address)
            self.move(initiator, segment, READ, memory.address, there, MIB)
            self.assertEqual(memory.digest(), before)
