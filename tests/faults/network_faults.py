"""Connections that break, with and without a word."""

import concurrent.futures
import os
import shutil
import socket
import struct
import subprocess
import time
from pathlib import Path

from engine import READ, WRITE
from fault_case import (CONNECT, CONTROL, CONTROL_SILENCE, DONE, ENCRYPTED, KINDS, MARGIN, PIECE, PLACE, SIZE, STALL,
                        STALLED, TCP, Case)
from memory import MIB
from waiting import wait_for


class Broken(Case):
    def test_connections_that_are_reset_in_the_middle_of_transfers(self):
        for kind in (TCP, ENCRYPTED):
            target, initiator = self.target(kind), self.engine(kind)
            count = 256 * MIB // PIECE
            batch, memory, segment = self.begin(initiator, target, WRITE, count)
            self.begun(batch)
            began = time.monotonic()
            self.assertGreaterEqual(target("reset"), 2)
            bound = CONTROL + CONNECT + MARGIN
            batch.wait(bound + 30)
            seen = time.monotonic() - began
            # What was on its way is lost with the connection; what had not begun goes over the next one.
            self.row("connections reset in the middle", kind.name, bound, seen, batch.errors(),
                     {("failed", "peer_lost"), DONE})
            self.assertIn("failed", batch.statuses())
            self.assertEqual(batch.status(count - 1), "completed")
            self.move(initiator, segment, WRITE, memory.address, target.memory, SIZE)
            self.assertEqual(target("digest", address=target.memory), memory.digest())

    def test_a_control_connection_that_is_reset_while_nothing_happens_is_not_noticed(self):
        for kind in KINDS:
            target, initiator = self.target(kind), self.engine(kind)
            segment = initiator.open(target.address)
            self.assertGreaterEqual(target("reset", port=target.port), 1)
            began = time.monotonic()
            self.assertIn((target.memory, SIZE), initiator.buffers(segment))
            self.row("control connection reset while idle", kind.name, CONTROL + MARGIN, time.monotonic() - began,
                     [(*DONE, "")], {DONE})

    def test_a_service_that_resets_every_connection(self):
        initiator = self.engine(TCP)
        with socket.create_server(("127.0.0.1", 0)) as server:
            def reset():
                connection, _ = server.accept()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()

            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                done = pool.submit(reset)
                seen, ways = self.opening(initiator, f"127.0.0.1:{server.getsockname()[1]}")
                done.result()
        self.row("reset during handshake", "control", CONTROL + MARGIN, seen, ways, {("refused", "peer_unreachable")})


class Networks(Case):
    """Hosts that vanish: processes in networks of their own, and the wire between them is cut. Needs to be root."""

    def networks(self, kind):
        """Initiator, target, and what cuts one of them off: the other sees no end, its packets are just lost."""
        for tool in ("ip", "nsenter", "unshare"):
            if shutil.which(tool) is None:
                self.not_tried("half-open connections", f"{tool} is missing")
        tried = subprocess.run(["unshare", "--net", "ip", "link", "add", "wire", "type", "veth", "peer", "name", "end"],
                               capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            self.not_tried("half-open connections", f"no network can be made here: {tried.stderr.strip()}; be root")
        token = Path(PLACE.name) / "token"
        if not token.exists():
            token.touch(0o600)
            token.write_bytes(os.urandom(32))
        ends = self.worker("unshare", "--net"), self.worker("unshare", "--net")
        own = os.readlink("/proc/self/ns/net")
        for end in ends:
            wait_for(lambda end=end: os.readlink(f"/proc/{end.pid}/ns/net") != own)

        def ip(end, command):
            subprocess.run(["nsenter", "--net", "--target", str(end.pid), "ip", *command.split()], check=True)

        ip(ends[0], f"link add wire type veth peer name wire netns {ends[1].pid}")
        for number, end in enumerate(ends, 1):
            ip(end, f"address add 10.77.0.{number}/24 dev wire")
            ip(end, "link set lo up")
            ip(end, "link set wire up")
            end.start(**kind.keys, rpc_server_hostname=f"10.77.0.{number}", auth__token_file=str(token))
        initiator, target = ends
        target.memory = target("memory", size=SIZE, seed=1)
        initiator.local = initiator("memory", size=SIZE, seed=2)
        self.assertEqual(initiator("open", address=target.address)[1], "")
        initiator("transfer", address=target.address, opcode=READ, local=initiator.local, remote=target.memory,
                  length=MIB)
        self.assertEqual(initiator("wait", address=target.address, seconds=30)[1], [["completed", "", ""]])
        return initiator, target, lambda end: ip(end, "link set wire down")

    def connections(self, end, control):
        """Of a process that is alone in its network: to its control channel, or those that carry data."""
        table = [line.split() for line in Path(f"/proc/{end.pid}/net/tcp").read_text().splitlines()[1:]]
        return [line for line in table
                if line[3] == "01" and (int(line[1].rpartition(":")[2], 16) == end.port) == control]

    def is_closed(self, fault, kind, bound, end, control):
        began = time.monotonic()
        wait_for(lambda: not self.connections(end, control), bound + MARGIN)
        self.row(fault, kind.name, bound, time.monotonic() - began, [("closed", "", "")],
                 {("closed", "")})

    def test_an_initiator_whose_target_vanishes_in_the_middle(self):
        def one(case):
            kind, opcode = case
            initiator, target, cut_off = self.networks(kind)
            arguments = {"address": target.address, "opcode": opcode, "local": initiator.local, "remote": target.memory,
                         "length": PIECE, "span": SIZE}
            initiator("transfer", **arguments, count=1024)
            wait_for(lambda: initiator("ended", address=target.address))
            cut_off(target)
            bound = STALLED + CONTROL + MARGIN
            seen, ways = initiator("wait", address=target.address, seconds=bound)
            what = "writes" if opcode else "reads"
            self.row(f"half-open: the target vanishes in the middle of {what}", kind.name, bound, seen, ways,
                     {("failed", "peer_lost"), ("failed", "peer_unreachable"), ("timeout", "timeout"), DONE})
            self.assertTrue({way[0] for way in ways} & {"failed", "timeout"})
            initiator("transfer", **arguments, count=1)
            seen, ways = initiator("wait", address=target.address, seconds=CONTROL + MARGIN)
            self.row("half-open: the next transfer", kind.name, CONTROL + MARGIN, seen, ways,
                     {("timeout", "timeout"), ("failed", "peer_unreachable"), ("failed", "peer_lost")})
            initiator("start", **kind.keys)
            seen, reason, message = initiator("open", address=target.address)
            self.row("half-open: connecting", kind.name, CONTROL + MARGIN, seen, [("refused", reason, message)],
                     {("refused", "timeout"), ("refused", "peer_unreachable")})

        self.each(one, [(kind, opcode) for kind in (TCP, ENCRYPTED) for opcode in (READ, WRITE)])

    def test_a_target_whose_initiator_vanishes_in_the_middle(self):
        def one(case):
            kind, opcode = case
            initiator, target, cut_off = self.networks(kind)
            initiator("transfer", address=target.address, opcode=opcode, local=initiator.local, remote=target.memory,
                      length=PIECE, count=1024, span=SIZE)
            wait_for(lambda: initiator("ended", address=target.address))
            cut_off(initiator)
            what = "writes" if opcode else "reads"
            self.is_closed(f"half-open: the initiator vanishes in the middle of {what}", kind, HALF_OPEN, target, False)

        self.each(one, [(kind, opcode) for kind in (TCP, ENCRYPTED) for opcode in (READ, WRITE)])

    def test_idle_connections_whose_other_end_vanishes(self):
        def one(kind):
            initiator, target, cut_off = self.networks(kind)
            self.assertTrue(self.connections(target, False))
            self.assertTrue(self.connections(target, True))
            cut_off(initiator)
            began = time.monotonic()
            self.is_closed("half-open: idle data connections", kind, HALF_OPEN, target, False)
            self.is_closed("half-open: idle control connections", kind,
                           2 * CONTROL_SILENCE + MARGIN - (time.monotonic() - began), target, True)

        self.each(one, [TCP, ENCRYPTED])


# The kernel probes an idle connection after half of this, and gives it up when nothing has come for all of it; what was
# sent in between is given up as long after that. It counts in seconds, and tcp's limit is two at least.
HALF_OPEN = 2 * max(STALL, 2) + 1 + MARGIN
