#!/usr/bin/env python3
"""tent-submit against targets that run by themselves, and tent-submit --serve.

    submit_peer_test.py TENT_SUBMIT TENT_EXPLAIN SOURCE_DIR
"""

import json
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

from submit_case import CORPUS, SUBMIT, TIME_LIMIT, Case, executions, statuses, vector, write_to


class Serving(Case):
    def test_a_target_says_where_it_is_and_what_was_done_to_it(self):
        ready, process = self.serve("--size", "1MiB")
        self.assertRegex(ready["address"], r"^127\.0\.0\.1:\d+$")
        self.assertEqual((ready["segment"], ready["pid"]), (ready["address"], process.pid))
        self.assertEqual([(b["registration"], b["length"]) for b in ready["buffers"]],
                         [("application", 1 << 20), ("allocated", 1 << 20)])
        path = self.file(vector("r", 1000, transport_hint="tcp"), vector("w", 500, **write_to(transport_hint="tcp")))
        self.run_json("--peer", ready["address"], path)
        served = json.loads(self.stop(process))["served"]
        tcp = next(one for one in served if one["transport"] == "tcp")
        self.assertEqual((tcp["read_bytes"], tcp["written_bytes"]), (1000, 500))

    def test_the_command_for_the_other_side_works_as_it_is_printed(self):
        for segment in ([], ["--segment", "node-b"]):
            process = self.start("--serve", *segment)
            text = process.stdout.readline() + process.stdout.readline()
            command = re.search(r"tent-submit (--peer \S+) FILE", text)[1].split()
            path = self.file(vector(target={"segment": "node-b"}) if segment else vector())
            self.assertEqual(self.run_json(*command, path)["summary"]["verified"], 1)
            self.assertIn("served over shm", self.stop(process))

    def test_a_port_that_is_taken_is_told(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            result = self.submit("--serve", "--bind", f"127.0.0.1:{port}")
        self.assertEqual((result.returncode, result.stdout), (4, ""))
        self.assertIn(f"127.0.0.1:{port}", result.stderr)
        self.assertIn("another process has the port", result.stderr)

    def test_a_peer_that_stands_still_keeps_nothing_from_another(self):
        still, still_process = self.serve("--segment", "still", "--size", "4M")
        well, _ = self.serve("--segment", "well", "--size", "4M")
        path = self.file({**vector("to-still", length="1M", target={"segment": "still"}), "repeat": 100_000},
                         {**vector("to-well", length="1M", target={"segment": "well"}), "repeat": 50})
        process = self.start("--format", "json", "--timeout", "4s", "--peer", f"still={still['address']}",
                             "--peer", f"well={well['address']}", path)
        time.sleep(0.3)  # wherever the run is then
        still_process.send_signal(signal.SIGSTOP)
        out, err = process.communicate(timeout=TIME_LIMIT)
        still_process.send_signal(signal.SIGCONT)
        document = self.valid(out)
        self.assertEqual(process.returncode, 1, err)
        to_still, to_well = executions(document)["to-still"], executions(document)["to-well"]
        self.assertEqual((to_well["status"], to_well["repeats"], to_well["verified"]), ("completed", 50, True))
        self.assertIn(to_still["status"], ("timeout", "failed"))
        self.assertNotEqual(to_still["verified"], True)

    def test_the_address_of_the_configuration_is_served(self):
        with socket.create_server(("127.0.0.3", 0)) as free:
            port = free.getsockname()[1]
        config = self.write("c.json", json.dumps({"rpc_server_hostname": "127.0.0.3", "rpc_server_port": port}))
        ready, process = self.serve("--config", config)
        self.assertEqual(ready["address"], f"127.0.0.3:{port}")
        self.stop(process)
        ready, process = self.serve("--config", config, "--bind", "127.0.0.1:0")
        self.assertTrue(ready["address"].startswith("127.0.0.1:"))
        self.stop(process)

    def test_sighup_reads_the_configuration_again(self):
        config = self.write("c.json", "{}")
        _, process = self.serve("--config", config, "--size", "4K")

        def said_after(content):
            config.write_text(content)
            process.send_signal(signal.SIGHUP)
            lines = []
            while not lines or not any(end in lines[-1] for end in ("in force stays", "are in force")):
                lines.append(process.stderr.readline())
                self.assertTrue(lines[-1], "the target has ended")
            return "".join(lines)

        self.assertNotIn("restart", said_after('{"qos": {"defaults": {"priority": "low"}}}'))
        self.assertRegex(said_after('{"qos": {"defaults": {"priority": "lowest"}}}'), r"c.json:1:\d+: /qos/defaults/prior")
        self.assertIn("in force stays", said_after("{"))
        self.assertIn("to change rpc_server_port, auth takes a restart",
                      said_after('{"rpc_server_port": 4711, "auth": {"encrypt_data": true}}'))
        self.stop(process)

    def test_an_address_for_others_needs_their_trust(self):
        result = self.submit("--serve", "--bind", "0.0.0.0:0")
        self.assertEqual((result.returncode, result.stdout), (4, ""))
        self.assertIn("auth", result.stderr)

    def test_more_memory_than_there_is_is_told(self):
        result = self.submit("--serve", "--size", "1000000T")
        self.assertEqual((result.returncode, result.stdout), (4, ""))
        self.assertIn("--size", result.stderr)

    def test_a_target_whose_reader_has_gone_ends(self):
        process = self.start("--serve", "--size", "4K")
        process.stdout.close()
        process.stdout = None
        process.communicate(timeout=TIME_LIMIT)
        self.assertEqual(process.returncode, 0)

    def test_a_waiting_target_uses_no_time(self):
        ready, process = self.serve("--size", "4K")
        self.run_json("--peer", ready["address"], self.file(vector("v", 1)))
        def ticks():
            with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
                return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
        before = ticks()
        time.sleep(1)  # what is measured is that nothing happens
        self.assertLessEqual(ticks() - before, 2)


class Peers(Case):
    def test_the_corpus_runs_against_a_target_in_another_process(self):
        ready, _ = self.serve("--size", "16MiB")
        arguments = ["--config", CORPUS / "submit/config.json", CORPUS / "submit/mixed.json"]
        for _ in range(2):
            summary = self.run_json("--peer", ready["address"], *arguments)["summary"]
            self.assertEqual((summary["verified"], summary["ok"]), (14, 14))

    def test_vectors_go_to_the_peer_that_their_segment_names(self):
        plain, first = self.serve("--size", "1M")
        b, second = self.serve("--size", "1M", "--segment", "node-b")
        unnamed_c, third = self.serve("--size", "1M")
        path = self.file(vector("plain", 1, **write_to(transport_hint="tcp")),
                         vector("b", 10, **write_to("node-b", transport_hint="tcp")),
                         vector("c", 100, **write_to("c", transport_hint="tcp")),
                         {"tenant": "other", **vector("b-too", 10, **write_to("node-b", 4096, transport_hint="tcp"))})
        host, _, port = unnamed_c["address"].rpartition(":")
        document = self.run_json("--peer", f"node-b={b['address']}", "--peer", plain["address"],
                                 "--peer", f"c=localhost:{port}", path)
        self.assertEqual(set(statuses(document).values()), {"completed"})
        written = lambda process: sum(one["written_bytes"] for one in json.loads(self.stop(process))["served"])
        self.assertEqual([written(process) for process in (first, second, third)], [1, 20, 100])

    def test_a_segment_without_a_peer_is_unknown_and_the_peer_to_give_is_named(self):
        ready, _ = self.serve("--size", "1M")
        path = self.file(vector("named", target={"segment": "node-x"}), vector("unnamed"))
        document = self.run_json("--peer", ready["address"], path, exit_code=1)
        error = document["results"][0]["error"]
        self.assertEqual((error["category"], error["reason"], error["value"]), ("invalid_argument", "unknown_segment", "node-x"))
        self.assertIn("--peer node-x=HOST:PORT", error["message"])
        document = self.run_json("--peer", f"node-x={ready['address']}", path, exit_code=1)
        self.assertIn("--peer HOST:PORT", document["results"][1]["error"]["message"])
        expected = {**vector("named", target={"segment": "node-x"}),
                    "expect": {"status": "invalid_argument", "reason": "unknown_segment", "field": "target_id"}}
        document = self.run_json("--peer", ready["address"], self.file(expected, vector("unnamed")))
        self.assertEqual(statuses(document), {"named": None, "unnamed": "completed"})

    def test_a_peer_that_is_called_otherwise_is_not_taken(self):
        ready, _ = self.serve("--size", "1M", "--segment", "node-b")
        result = self.submit("--format", "json", "--peer", f"node-c={ready['address']}", self.file(vector()))
        self.assertEqual(self.document(result, 4)["results"], [])
        self.assertIn('calls itself "node-b", not "node-c"', result.stderr)

    def test_a_peer_that_is_not_there_is_told(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        result = self.submit("--format", "json", "--peer", f"127.0.0.1:{port}", self.file(vector()))
        document = self.document(result, 4)
        self.assertEqual(document["results"], [])
        self.assertIn(f"127.0.0.1:{port}", document["summary"]["stopped"])
        self.assertIn("does tent-submit --serve run there?", result.stderr)
        result = self.submit("--peer", "no-such-host.invalid:5", self.file(vector()))
        self.assertEqual(result.returncode, 4)
        self.assertIn("no-such-host.invalid", result.stderr)

    def test_a_peer_that_does_not_answer_costs_no_more_than_the_timeout(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"127.0.0.1:{server.getsockname()[1]}"
            result = subprocess.run([SUBMIT, "--timeout", "2s", "--peer", address, self.file(vector())],
                                    capture_output=True, text=True, check=False, timeout=20)
        self.assertEqual(result.returncode, 4)
        self.assertIn(address, result.stderr)

    def test_what_lies_beyond_the_buffer_is_out_of_range(self):
        ready, _ = self.serve("--size", "64K")
        path = self.file(vector("last", 65536), vector("beyond", 65537), vector("behind", 1, target={"offset": 65536}))
        document = self.run_json("--peer", ready["address"], path, exit_code=1)
        self.assertEqual([result["status"] for result in document["results"]], ["ok", "invalid_argument", "invalid_argument"])
        error = document["results"][2]["error"]
        self.assertEqual((error["reason"], error["field"], error["value"]), ("out_of_range", "target_offset", 65536))
        self.assertIn("64 KiB", error["message"])
        self.assertIn("--size", error["message"])

    def test_a_target_that_is_killed_and_one_that_is_not(self):
        lost, process = self.serve("--size", "1M", "--segment", "a")
        kept, _ = self.serve("--size", "1M", "--segment", "b")
        vectors = [vector("from-a", target={"segment": "a"}), vector("from-b", target={"segment": "b"})]
        run = self.start("--format", "json", "--peer", f"a={lost['address']}", "--peer", f"b={kept['address']}", "-",
                         stdin=subprocess.PIPE)
        process.kill()
        process.wait()
        out, _ = run.communicate("\n".join(map(json.dumps, vectors)), timeout=TIME_LIMIT)
        self.assertEqual(run.returncode, 4)  # it was gone before the run
        self.assertIn("a at", self.valid(out)["summary"]["stopped"])

    def test_two_runs_at_once_that_write_the_same_range_see_each_other_or_verify(self):
        ready, _ = self.serve("--size", "1M")
        path = self.file({**vector("w", 4096, **write_to()), "repeat": 300})
        runs = [self.start("--format", "json", "--peer", ready["address"], path) for _ in range(2)]
        for run in runs:
            out, _ = run.communicate(timeout=TIME_LIMIT)
            execution = executions(self.valid(out))["w"]
            self.assertEqual(execution["verified"], execution["status"] == "completed")
            self.assertEqual(run.returncode, 0 if execution["verified"] else 1)
            if not execution["verified"]:
                self.assertIn("something else write", execution["error"]["message"])

    def test_interrupting_a_target_ends_it_well(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            _, process = self.serve("--size", "4K")
            process.send_signal(number)
            process.communicate(timeout=TIME_LIMIT)
            self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
