#!/usr/bin/env python3
"""tent-submit against a target of its own: what it runs, what it refuses, what it prints.

    submit_test.py TENT_SUBMIT TENT_EXPLAIN SOURCE_DIR
"""

import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

from submit_case import CORPUS, SUBMIT, TIME_LIMIT, Case, children_of, executions, is_there, statuses, vector, write_to
from waiting import wait_for

SUBMIT_CORPUS = ["--config", CORPUS / "submit/config.json", CORPUS / "submit/mixed.json"]
LONG_RUN = {"repeat": 1_000_000, **vector("long", 65536, **write_to())}


class Running(Case):
    def test_every_vector_of_the_corpus_is_carried_and_verified(self):
        for arguments in (SUBMIT_CORPUS, [CORPUS / "submit/plain.json"],
                          ["--config", CORPUS / "quickstart/config.json", CORPUS / "quickstart/intents.json"]):
            document = self.run_json(*arguments)
            for result in document["results"]:
                execution = result["execution"]
                if result["status"] != "ok":
                    self.assertIsNone(execution)
                    continue
                self.assertEqual((execution["status"], execution["verified"], execution["error"]), ("completed", True, None))
                self.assertEqual(execution["bytes"], execution["repeats"] * result["requested"]["length"])
                self.assertGreater(execution["duration_ns"], 0)
                self.assertEqual([attempt["reason"] for attempt in execution["attempts"]], [None])
            summary = document["summary"]
            self.assertEqual(summary["verified"], summary["ok"])
            self.assertEqual((summary["stopped"], summary["interrupted"]), (None, False))

    def test_10000_vectors_of_one_stream(self):
        lines = []
        for i in range(10_000):
            request = {"length": 1 + i * 37 % 5000, "opcode": ["read", "write"][i % 2],
                       "target": {"offset": i * 5000 % (1 << 22), "registration": ["application", "allocated"][i // 2 % 2]},
                       "source": {"registration": ["application", "allocated"][i // 4 % 2]},
                       "transport_hint": ["unspec", "tcp", "shm"][i % 3], "requested_priority": i % 4}
            lines.append(json.dumps({"name": f"v{i}", "request": request}))
        result = self.submit("--format", "json", "-q", "-", input="\n".join(lines))
        document = json.loads(result.stdout)  # to hold all of it against the schema would take most of the time
        self.valid(json.dumps({**document, "results": document["results"][::100]}))
        self.assertEqual((result.returncode, document["summary"]["verified"]), (0, 10_000))
        self.assertEqual([result["index"] for result in document["results"]], list(range(10_000)))

    def test_repetitions_are_summed_and_each_is_verified(self):
        [result] = self.run_json(self.file({**vector("v", 1000, **write_to()), "repeat": 50}))["results"]
        execution = result["execution"]
        self.assertEqual((execution["repeats"], execution["bytes"], execution["verified"]), (50, 50_000, True))

    def test_without_verification_nothing_is_said_about_it(self):
        [result] = self.run_json("--no-verify", self.file(vector()))["results"]
        self.assertEqual((result["execution"]["status"], result["execution"]["verified"]), ("completed", None))

    def test_a_legacy_request_of_length_0_completes_without_a_transport(self):
        legacy = {"surface": "legacy", **vector("nothing", 0)}
        [result] = self.run_json(self.file(legacy))["results"]
        execution = result["execution"]
        self.assertEqual((execution["status"], execution["transport"], execution["attempts"]), ("completed", None, []))

    def test_an_empty_file_is_run_at_once(self):
        self.assertEqual(self.run_json(self.file())["results"], [])

    def test_the_result_is_the_one_of_the_time_of_submission(self):
        [result] = self.run_json(self.file(vector(deadline_budget="10s")))["results"]
        deadline = result["requested"]["deadline"]
        self.assertEqual((deadline["state"], deadline["remaining_ns"]), ("pending", 10_000_000_000))

    def test_what_the_configuration_stages_is_staged_as_planned_with_the_same_bytes(self):
        staging = {"force": True, "chunk_size": "4KiB", "buffers": 3}
        config = self.write("config.json", json.dumps({"staging": staging}))
        lengths = (1, 4095, 4096, 4097, 8191, 8192, 8193, 17 * 4096 + 3)
        vectors = [
            vector(f"{hint} {opcode} {length} {registration}", length, transport_hint=hint, opcode=opcode,
                   target={"registration": registration, "offset": 7})
            for hint in ("shm", "tcp") for opcode in ("read", "write") for length in lengths
            for registration in ("application", "allocated")
        ]
        for result in self.run_json("--config", config, self.file(*vectors))["results"]:
            with self.subTest(result["name"]):
                hint, _, length, _ = result["name"].split()
                execution, plan = result["execution"], result["plan"]
                self.assertEqual((execution["status"], execution["verified"]), ("completed", True))
                self.assertEqual(execution["attempts"],
                                 [{"transport": hint, "path_kind": "staged", "reason": None, "aftermath": None}])
                self.assertEqual(plan["path_kind"], "staged")
                self.assertEqual([stage["type"] for stage in plan["stages"]], ["copy", "transfer", "copy"])
                self.assertEqual({stage["slices"] for stage in plan["stages"]}, {-(-int(length) // 4096)})
        result = self.submit("--config", config, self.file(vector()))
        self.assertEqual(result.returncode, 0)
        self.assertIn(" shm staged ", result.stdout)

    def test_a_dry_run_moves_nothing(self):
        document = self.run_json("--dry-run", *SUBMIT_CORPUS)
        self.assertEqual({result["execution"] for result in document["results"]}, {None})
        self.assertEqual(document["summary"]["transfers"], 0)
        self.assertTrue(all(result["plan"] for result in document["results"] if result["status"] == "ok"))

    def test_dev_stdin_and_a_fifo_are_files_too(self):
        text = json.dumps(vector())
        for path in ("/dev/stdin", "-"):
            self.assertEqual(self.run_json(path, input=text)["summary"]["completed"], 1)


class Refusing(Case):
    def test_a_rejection_that_is_not_expected_keeps_all_from_running(self):
        document = self.run_json(self.file(vector("good"), vector("bad", intent_type=99)), exit_code=1)
        self.assertEqual(statuses(document), {"good": None, "bad": None})
        self.assertEqual([result["status"] for result in document["results"]], ["ok", "invalid_enum"])
        self.assertIn("1 rejected", document["summary"]["stopped"])

    def test_a_rejection_that_is_expected_leaves_the_others(self):
        bad = {**vector("bad", intent_type=99), "expect": {"status": "invalid_enum", "reason": "unknown_intent_type"}}
        document = self.run_json(self.file(vector("good"), bad))
        self.assertEqual(statuses(document), {"good": "completed", "bad": None})

    def test_another_rejection_than_the_expected_one_keeps_all_from_running(self):
        bad = {**vector("bad", intent_type=99), "expect": {"status": "invalid_enum", "reason": "unknown_opcode"}}
        self.assertEqual(statuses(self.run_json(self.file(vector("good"), bad), exit_code=1)), {"good": None, "bad": None})

    def test_an_expected_rejection_that_does_not_come_keeps_all_from_running(self):
        for expect in ({"status": "invalid_enum"}, {"reason": "zero_length"}, {"error": {"field": "length"}}):
            document = self.run_json(self.file({**vector("good"), "expect": expect}), exit_code=1)
            self.assertEqual(statuses(document), {"good": None})
            self.assertIn("although rejection is expected", document["summary"]["stopped"])

    def test_a_pinned_clock_is_for_explaining(self):
        result = self.submit("--format", "json", self.file(vector(), clock={"now_ns": 5}))
        self.assertEqual(self.document(result, 3)["results"], [])
        self.assertRegex(result.stderr, r"^[^:]+/v\.json:1:\d+: /clock: a pinned clock is for explaining")

    def test_a_malformed_file_runs_nothing_and_tells_all_faults(self):
        path = self.write("v.ndjson", json.dumps(vector()) + '\n{"request":{}}\n{\n')
        result = self.submit("--format", "json", path)
        document = self.document(result, 3)
        self.assertEqual((document["results"], document["summary"]["faults"]), ([], 2))
        self.assertEqual([line.split(":")[1] for line in result.stderr.splitlines()], ["2", "3"])
        self.assertEqual(self.submit(self.root / "missing.json").returncode, 3)
        document = self.run_json("--config", path, self.file(vector(), name="good.json"), exit_code=3)
        self.assertEqual(document["summary"]["stopped"], "the configuration cannot be used")

    def test_a_required_transport_is_required_of_the_plan(self):
        path = self.file(vector("any"), vector("tcp", transport_hint="tcp"))
        document = self.run_json("--require", "tcp", path, exit_code=1)
        self.assertEqual(statuses(document), {"any": None, "tcp": None})
        self.assertIn("any would go over shm", document["summary"]["stopped"])
        document = self.run_json("--require", "tcp", self.file(vector("tcp", transport_hint="tcp")))
        self.assertEqual(executions(document)["tcp"]["transport"], "tcp")

    def test_what_no_transport_can_carry_is_refused_with_the_reasons(self):
        gpu = vector("gpu", source={"memory": "cuda:1023"})
        file_target = vector("file", target={"type": "file", "path": "/srv/x"})
        document = self.run_json(self.file(gpu, file_target), exit_code=1)
        self.assertEqual([result["status"] for result in document["results"]], ["transport_unauthorized"] * 2)
        self.assertTrue(all(result["error"]["rejected"] for result in document["results"]))

    def test_a_range_beyond_what_memory_allows_is_out_of_range(self):
        document = self.run_json(self.file(vector("far", target={"offset": 1 << 60}), vector("near")), exit_code=1)
        error = document["results"][0]["error"]
        self.assertEqual((error["category"], error["reason"]), ("invalid_argument", "out_of_range"))
        self.assertIn("--size", error["message"])

    def test_wrong_usage_is_exit_code_2_and_says_what_is_wrong(self):
        good = str(self.file(vector()))
        for arguments in ([], ["--no-such-option", good], [good, good], ["--peer", "nowhere", good], ["--peer", "a:0", good],
                          ["--peer", "=a:1", good], ["--peer", "::1:5", good], ["--peer", "a:1", "--peer", "b:1", good],
                          ["--peer", "n=a:1", "--peer", "n=b:1", good], ["--loopback", "--peer", "a:1", good],
                          ["--timeout", "0s", good], ["--timeout", "5", good], ["--require", "carrier-pigeon", good],
                          ["--require", "unspec", good], ["--size", "1M", good], ["--serve", good], ["--serve", "--dry-run"],
                          ["--serve", "--bind", "nowhere"], ["--serve", "--size", "0"], ["--serve", "--segment", "a=b"],
                          ["--config", "-", "-"], ["--format", "xml", good]):
            result = self.submit(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertTrue(result.stderr.strip(), arguments)


class Output(Case):
    def test_ndjson_is_a_result_a_line(self):
        lines = self.submit("--format", "ndjson", *SUBMIT_CORPUS).stdout.splitlines()
        results = [json.loads(line) for line in lines]
        self.assertEqual([result["index"] for result in results], list(range(len(results))))
        self.assertEqual(list(results[0])[-1], "execution")

    def test_text_is_a_table_what_failed_and_a_summary(self):
        result = self.submit(*SUBMIT_CORPUS)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^ *1  kv-fetch +foreground_get +unspec +high +shm +1 MiB .* yes +completed$")
        self.assertIn("14 completed, 3 rejected as expected", result.stdout.splitlines()[-1])
        result = self.submit(self.file(vector("good"), vector("bad", policy_name="nobody")))
        self.assertRegex(result.stdout, r"(?m)^bad: policy_unknown: .*nobody")
        self.assertIn("no byte moved", result.stdout)
        verbose = self.submit("-v", *SUBMIT_CORPUS).stdout
        self.assertIn("qos.tenants[llm-serving].intents.migration.priority", verbose)

    def test_names_from_files_cannot_reach_the_terminal_raw(self):
        for request in ({}, {"policy_name": "\x1b]0;x\x07"}):
            result = self.submit(self.file(vector("\x1b[2J\u202egnp", **request)))
            self.assertIn("\\x1b[2J", result.stdout)
            self.assertNotRegex(result.stdout + result.stderr, "[\x00-\x09\x0b-\x1f\u202e]")

    def test_progress_and_colour_are_for_terminals(self):
        def on_a_terminal(*arguments):
            ours, theirs = pty.openpty()
            with subprocess.Popen([SUBMIT, *map(str, arguments)], stdout=theirs, stderr=theirs) as process:
                os.close(theirs)
                text = b""
                while True:
                    try:
                        piece = os.read(ours, 65536)
                    except OSError:
                        break
                    text += piece
                process.wait()
            os.close(ours)
            return text.decode()

        path = self.file(vector())
        self.assertRegex(on_a_terminal(path), r"1 of 1 transfers")
        self.assertIn("\x1b[32mcompleted", on_a_terminal(path))
        quiet = on_a_terminal("-q", "--no-color", path)
        self.assertNotIn("\x1b", quiet)
        self.assertNotIn("transfers,", quiet.splitlines()[0])

    def test_a_closed_pipe_ends_the_output_quietly(self):
        process = self.start("--format", "json", *SUBMIT_CORPUS)
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate(timeout=TIME_LIMIT)
        self.assertEqual((process.returncode, err), (0, ""))

    def test_a_full_disk_is_told(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = self.submit(*SUBMIT_CORPUS, stdout=full)
        self.assertEqual(result.returncode, 4)
        self.assertIn("No space left", result.stderr)
        result = self.submit("--metrics", "/dev/full", *SUBMIT_CORPUS)
        self.assertEqual(result.returncode, 4)
        self.assertIn("/dev/full cannot be written: No space left", result.stderr)

    def test_too_few_descriptors_are_told(self):
        if re.search(rb"__[at]san_init", SUBMIT.read_bytes()):
            self.skipTest("sanitizers need descriptors for checks of their own")
        path = self.file(vector())
        for limit in range(4, 25):
            with self.subTest(limit=limit):
                result = self.submit("--format", "json", "--timeout", "5s", path,
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
                if "error while loading shared libraries" in result.stderr:
                    continue
                self.assertIn(result.returncode, (0, 1, 3, 4), result.stderr)
                self.valid(result.stdout)

    def test_version_names_the_transports_that_are_built(self):
        result = self.submit("--version")
        self.assertIn("transports built in: shm, tcp", result.stdout)


class Metrics(Case):
    SAMPLE = re.compile(r'^(\w+)((?:\{\w+="[a-z_]+"(?:,\w+="[a-z_]+")*\})?) (\d+)$')

    def samples(self, path):
        text = path.read_text()
        families = set(re.findall(r"(?m)^# HELP (\w+) \S.*\n# TYPE \1 counter$", text))
        samples = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, labels, value = self.SAMPLE.match(line).groups()
                self.assertIn(name, families)
                samples[name + labels] = int(value)
        return samples

    def test_the_counters_of_all_tenants_are_written(self):
        path = self.root / "metrics.prom"
        path.write_text("before")
        document = self.run_json("--metrics", path, *SUBMIT_CORPUS)
        samples = self.samples(path)
        transfers = document["summary"]["transfers"]
        self.assertEqual(samples['tent_requests_total{outcome="accepted"}'], transfers)
        self.assertEqual(samples['tent_tasks_total{state="completed"}'], transfers)
        self.assertEqual(sum(value for name, value in samples.items() if 'outcome="succeeded"' in name), transfers)
        self.assertEqual(sum(value for name, value in samples.items() if 'role="initiator"' in name),
                         document["summary"]["bytes"])
        self.assertEqual(samples['tent_downgrades_total{field="requested_priority",reason="priority_above_contract"}'], 1)
        self.assertEqual(samples["tent_deadlines_expired_on_submit_total"], 0)
        self.assertEqual(list(self.root.iterdir()), [path])

    def test_expired_deadlines_are_counted(self):
        path = self.root / "metrics.prom"
        self.run_json("--metrics", path, self.file(vector(deadline_budget="0ns")))
        self.assertEqual(self.samples(path)["tent_deadlines_expired_on_submit_total"], 1)

    def test_what_cannot_be_written_is_told_before_anything_is_run(self):
        os.mkfifo(self.root / "fifo")
        for path, expected in [("no/metrics.prom", "No such file"), (".", "Is a directory"), ("fifo", "No such device")]:
            with self.subTest(path=path):
                result = self.submit("--format", "json", "--metrics", path, self.file(vector()))
                document = self.document(result, 4)
                self.assertIn(f"{path} cannot be written: {expected}", result.stderr)
                self.assertEqual(document["results"], [])
        self.assertEqual(self.submit("--metrics", "", self.file(vector())).returncode, 2)

    def test_standard_output_is_left_to_the_report(self):
        with open(self.root / "out", "w", encoding="utf-8") as out:
            out.write("before\n")
            out.flush()
            result = self.submit("--metrics", "/dev/stdout", self.file(vector()), stdout=out)
        self.assertEqual(result.returncode, 4)
        self.assertIn("it is standard output", result.stderr)
        self.assertTrue((self.root / "out").read_text().startswith("before\n"))

    def test_a_replaced_file_keeps_its_mode(self):
        path = self.root / "metrics.prom"
        path.write_text("before")
        path.chmod(0o600)
        self.run_json("--metrics", path, self.file(vector()))
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_they_are_written_also_where_no_engine_starts(self):
        config = self.write("c.json", '{"metadata_type": "etcd"}')
        path = self.root / "metrics.prom"
        document = self.run_json("--config", config, "--metrics", path, self.file(vector()), exit_code=4)
        self.assertIn("metadata_type", document["summary"]["stopped"])
        self.assertEqual(self.samples(path)["tent_deadlines_expired_on_submit_total"], 0)


class Ending(Case):
    def start_running(self, *arguments):
        """A run whose first transfers have ended, and the process id of its target."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        process = self.start(*arguments, stderr=theirs)
        os.close(theirs)
        progress = b""
        while b" transfers" not in progress:
            progress += os.read(ours, 4096)
        return process, children_of(process.pid)[0]

    def test_an_interrupt_reports_what_was_done_and_leaves_no_process(self):
        process, target = self.start_running("--format", "json", self.file(LONG_RUN, vector("later", requested_priority="low")))
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=TIME_LIMIT)
        self.assertEqual(process.returncode, 130)
        document = self.valid(out)
        self.assertEqual(statuses(document), {"long": "canceled", "later": "not_run"})
        self.assertGreater(executions(document)["long"]["repeats"], 0)
        self.assertTrue(document["summary"]["interrupted"])
        wait_for(lambda: not is_there(target))

    def test_the_target_ends_with_a_process_that_is_killed(self):
        process, target = self.start_running(self.file(LONG_RUN))
        process.kill()
        wait_for(lambda: not is_there(target))

    def test_a_target_that_is_killed_is_a_failure_that_is_told(self):
        process, target = self.start_running("--format", "json", self.file(LONG_RUN, vector("later", requested_priority="low")))
        os.kill(target, signal.SIGKILL)
        out, _ = process.communicate(timeout=TIME_LIMIT)
        self.assertEqual(process.returncode, 1)
        document = self.valid(out)
        self.assertEqual(statuses(document), {"long": "failed", "later": "not_run"})
        for execution in executions(document).values():
            self.assertIn(execution["error"]["reason"], ("peer_lost", "peer_unreachable", "io_error"))

    def test_a_target_that_stands_still_does_not_outlast_the_timeout(self):
        for hint in ("tcp", "shm"):
            run = {**LONG_RUN, "request": {**LONG_RUN["request"], "transport_hint": hint}}
            process, target = self.start_running("--format", "json", "--timeout", "2s", self.file(run, vector("later")))
            os.kill(target, signal.SIGSTOP)
            out, _ = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 1)
            document = self.valid(out)
            self.assertIn(statuses(document)["long"], ("timeout", "failed"))
            wait_for(lambda: not is_there(target))

    def test_what_arrived_and_was_not_verified_is_not_completed(self):
        # The last one outlasts every delay however fast the machine is, and the timeout however slow.
        waves = [vector(f"r{i}", length="8M", transport_hint="tcp") for i in range(400)]
        path = self.file(*waves, LONG_RUN)
        # Stopped at several places of a wave, in some of which a part of it has arrived.
        for delay in (0.16, 0.28):
            process, target = self.start_running("--format", "json", "--timeout", "4s", path)
            time.sleep(delay)
            os.kill(target, signal.SIGSTOP)
            out, _ = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 1)
            for name, execution in executions(self.valid(out)).items():
                self.assertEqual(execution["status"] == "completed", execution["verified"] is True, (name, execution))

    def test_a_timeout_ends_a_long_run(self):
        document = self.run_json("--timeout", "2s", self.file(LONG_RUN, vector("later", requested_priority="low")), exit_code=1)
        self.assertEqual(statuses(document), {"long": "timeout", "later": "not_run"})
        self.assertIn("within 2 s", document["summary"]["stopped"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
