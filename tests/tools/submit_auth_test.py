#!/usr/bin/env python3
"""Who gets at a target of tent-submit: tokens on the command line, and what a port scanner sees.

    submit_auth_test.py TENT_SUBMIT TENT_EXPLAIN SOURCE_DIR
"""

import json
import os
import re
import secrets
import selectors
import socket
import ssl
import struct
import sys
import time
import unittest
from pathlib import Path

from submit_case import Case, statuses, vector

SECRET_NAME = "segment-that-nobody-shall-hear-of"
REFUSED_TICKET = struct.pack("<IIII", 0x544E4554, 1, 1, 0)  # fixed: says that a ticket was refused, and nothing else


def listening_ports(pid):
    """The TCP ports on which a process listens."""
    inodes = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(fd))
        if match:
            inodes.add(match[1])
    ports = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                ports.append(int(fields[1].rpartition(":")[2], 16))
    return sorted(ports)


def client_hello(version):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    out = ssl.MemoryBIO()
    connection = context.wrap_bio(ssl.MemoryBIO(), out)
    try:
        connection.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def frame(text):
    return struct.pack("<I", len(text)) + text.encode()


def probes():
    hello = client_hello(ssl.TLSVersion.TLSv1_3)
    return {
        "silence": b"",
        "newlines": b"\r\n\r\n",
        "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "http proxy": b"CONNECT localhost:80 HTTP/1.1\r\n\r\n",
        "ssh": b"SSH-2.0-OpenSSH_9.2p1\r\n",
        "redis": b"INFO\r\n",
        "tls 1.2": client_hello(ssl.TLSVersion.TLSv1_2),
        "tls 1.3": hello,
        "half of tls": hello[:len(hello) // 2],
        "our frame": frame('{"type":"describe"}'),
        "our connect": frame('{"type":"connect","transport":"tcp","offer":"1"}'),
        "a long frame": struct.pack("<I", 0x7FFFFFFF) + b"{" * 1000,
        "our ticket": struct.pack("<II", 0x544E4554, 1) + secrets.token_bytes(16),
        "our ticket, version 2": struct.pack("<II", 0x544E4554, 2) + secrets.token_bytes(16),
        "zeros": bytes(4096),
        "noise": secrets.token_bytes(65536),
    }


def scan(ports, seconds=4):
    """What was answered to each probe on each port, and whether the connection was closed."""
    selector = selectors.DefaultSelector()
    heard = {}
    for port in ports:
        for name, sent in probes().items():
            connection = socket.create_connection(("127.0.0.1", port))
            connection.setblocking(False)
            try:
                connection.send(sent)
            except BlockingIOError:
                pass
            heard[port, name] = [b"", False]
            selector.register(connection, selectors.EVENT_READ, (port, name))
    until = time.monotonic() + seconds
    while selector.get_map() and time.monotonic() < until:
        for key, _ in selector.select(max(0, until - time.monotonic())):
            try:
                piece = key.fileobj.recv(65536)
            except ConnectionError:
                piece = b""
            heard[key.data][0] += piece
            if not piece:
                heard[key.data][1] = True
                selector.unregister(key.fileobj)
                key.fileobj.close()
    for key in list(selector.get_map().values()):
        key.fileobj.close()
    return {probe: tuple(said) for probe, said in heard.items()}


def is_alert(said):
    return len(said) == 7 and said[0] == 0x15 and said[1] == 3 and said[3:5] == b"\0\2"


class Scanner(Case):
    def test_a_port_scanner_learns_nothing(self):
        token = self.write("token", secrets.token_bytes(32))
        token.chmod(0o600)
        ready, process = self.serve("--size", "1M", "--segment", SECRET_NAME, "--token-file", token)
        ports = listening_ports(ready["pid"])
        control = int(ready["address"].rpartition(":")[2])
        self.assertIn(control, ports)
        self.assertEqual(len(ports), 2)  # of the control channel and of tcp
        answers = scan(ports)
        for (port, name), (said, closed) in answers.items():
            with self.subTest(port="control" if port == control else "data", probe=name):
                self.assertTrue(closed)
                allowed = said == b"" or is_alert(said) or (port != control and said == REFUSED_TICKET)
                self.assertTrue(allowed, said[:200])
                for secret in (SECRET_NAME.encode(), socket.gethostname().encode(), ready["address"].encode()):
                    self.assertNotIn(secret, said)
        self.assertTrue(any(said for said, _ in answers.values()))
        # Who has the token is served all the same.
        path = self.file(vector(target={"segment": SECRET_NAME}))
        document = self.run_json("--token-file", token, "--peer", f"{SECRET_NAME}={ready['address']}", path)
        self.assertEqual(statuses(document), {"v": "completed"})
        self.stop(process)

    def test_the_scanner_would_see_what_is_open(self):
        config = self.write("open.json", json.dumps({"auth": {"mode": "none"}}))
        ready, _ = self.serve("--size", "4K", "--segment", SECRET_NAME, "--config", config, "-q")
        control = int(ready["address"].rpartition(":")[2])
        said, _ = scan([control], seconds=1)[control, "our frame"]
        self.assertIn(SECRET_NAME.encode(), said)


class Tokens(Case):
    def token(self, name):
        path = self.write(name, secrets.token_hex(32))
        path.chmod(0o600)
        return path

    def test_both_sides_with_the_same_token_work_and_others_do_not(self):
        token, other = self.token("token"), self.token("other")
        ready, _ = self.serve("--size", "1M", "--token-file", token)
        document = self.run_json("--token-file", token, "--peer", ready["address"], self.file(vector()))
        self.assertEqual(statuses(document), {"v": "completed"})
        for options in (["--token-file", other], []):
            result = self.submit(*options, "--peer", ready["address"], self.file(vector()))
            self.assertEqual(result.returncode, 4)
            self.assertIn("another token", result.stderr)
            for path in (token, other):
                self.assertNotIn(path.read_text()[:16], result.stderr + result.stdout)

    def test_several_peers_share_one_token(self):
        token = self.token("token")
        a, _ = self.serve("--size", "1M", "--segment", "a", "--token-file", token)
        b, _ = self.serve("--size", "1M", "--segment", "b", "--token-file", token)
        c, _ = self.serve("--size", "1M", "--segment", "c", "--token-file", self.token("c"))
        path = self.file(vector("to-a", target={"segment": "a"}), vector("to-b", target={"segment": "b"}))
        peers = ["--peer", f"a={a['address']}", "--peer", f"b={b['address']}"]
        document = self.run_json("--token-file", token, *peers, path)
        self.assertEqual(statuses(document), {"to-a": "completed", "to-b": "completed"})
        result = self.submit("--token-file", token, *peers, "--peer", f"c={c['address']}", path)
        self.assertEqual(result.returncode, 4)
        self.assertIn(c["address"], result.stderr)

    def test_a_run_against_its_own_target_uses_the_token_too(self):
        self.run_json("--token-file", self.token("token"), self.file(vector()))
        config = self.write("open.json", json.dumps({"auth": {"mode": "none"}}))
        result = self.submit("--config", config, self.file(vector()))
        self.assertEqual(result.returncode, 0)
        self.assertIn("warning", result.stderr)

    def test_the_option_wins_over_the_configuration(self):
        token = self.token("token")
        ready, _ = self.serve("--size", "1M", "--token-file", token)
        config = self.write("c.json", json.dumps({"auth": {"mode": "none"}}))
        self.run_json("-q", "--config", config, "--token-file", token, "--peer", ready["address"], self.file(vector()))

    def test_a_configured_token_and_encrypted_data(self):
        config = self.write("c.json", json.dumps({"auth": {"token_file": str(self.token("token")), "encrypt_data": True}}))
        ready, _ = self.serve("--size", "1M", "--config", config)
        path = self.file(vector("r", 1 << 20, transport_hint="tcp"))
        document = self.run_json("--config", config, "--peer", ready["address"], path)
        self.assertEqual(statuses(document), {"r": "completed"})
        self.assertEqual(document["summary"]["verified"], 1)

    def test_the_command_for_the_other_side_names_the_token(self):
        token = self.token("token")
        process = self.start("--serve", "--size", "4K", "--token-file", token)
        text = process.stdout.readline() + process.stdout.readline()
        self.assertIn(f"tent-submit --token-file {token} --peer 127.0.0.1:", text)

    def test_a_token_that_is_not_good_is_told_before_anything_is_done(self):
        token = self.token("token")
        token.chmod(0o644)
        for arguments in (["--serve"], [self.file(vector())]):
            result = self.submit("--token-file", token, *arguments)
            self.assertEqual(result.returncode, 4)
            self.assertIn("chmod 600", result.stderr)
            self.assertNotIn("completed", result.stdout)
        self.assertEqual(self.submit("--token-file", "", "--serve").returncode, 2)

    def test_an_address_for_others_needs_a_token(self):
        ready, process = self.serve("--size", "4K", "--bind", "0.0.0.0:0", "--token-file", self.token("token"))
        self.assertTrue(ready["address"].startswith("0.0.0.0:"))
        self.stop(process)
        result = self.submit("--serve", "--bind", "0.0.0.0:0")
        self.assertEqual(result.returncode, 4)
        self.assertIn("auth.token_file", result.stderr)
        self.assertIn("auth.mode", result.stderr)

    def test_the_token_of_the_user_is_made_where_there_is_none(self):
        state = self.root / "state"
        ready, process = self.start_with(state)
        token = state / "tent/token"
        self.assertEqual((token.stat().st_mode & 0o777, token.stat().st_size), (0o600, 32))
        environment = {**os.environ, "XDG_STATE_HOME": str(state)}
        result = self.submit("--peer", ready["address"], self.file(vector()), env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        # Another user has another one.
        result = self.submit("--peer", ready["address"], self.file(vector()),
                             env={**os.environ, "XDG_STATE_HOME": str(self.root / "other")})
        self.assertEqual(result.returncode, 4)
        self.assertIn("another token", result.stderr)
        self.stop(process)

    def start_with(self, state):
        process = self.start("--serve", "--format", "json", "--size", "1M",
                             env={**os.environ, "XDG_STATE_HOME": str(state)})
        return json.loads(process.stdout.readline()), process


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
