#!/usr/bin/env python3
"""tent-explain as its users meet it: answers, settings, exit codes, and faults with their places.

    explain_test.py TENT_EXPLAIN SOURCE_DIR
"""

import json
import os
import pty
import re
import subprocess
import sys
import unittest

from explain_case import CORPUS, EXPLAIN, FAULT, GOOD, SOURCE, Case


class Corpus(Case):
    def test_every_vector_of_the_corpus_meets_its_expectation(self):
        checked = 0
        for config in sorted(CORPUS.glob("*/config.json")):
            for vectors in sorted(config.parent.glob("*.json")):
                if vectors != config:
                    environment = CORPUS / "environments" / vectors.name  # of the same name, where there is one
                    against = ["--env", environment] if environment.exists() else []
                    result = self.explain("--check", "-q", *against, "--config", config, vectors)
                    self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
                    checked += int(re.match(r"(\d+) of \1 vectors met", result.stdout)[1])
        self.assertGreater(checked, 110)

    def test_the_reasons_that_a_file_can_express_are_all_there(self):
        seen = set()
        for path in (CORPUS / "categories").glob("[dr]*.json"):
            for vector in json.loads(path.read_text())["vectors"]:
                seen.add(vector["expect"].get("reason"))
                seen.update(downgrade["reason"] for downgrade in vector["expect"].get("downgrades", []))
        schema = json.loads((SOURCE / "schemas/results.schema.json").read_text())
        inexpressible = {
            "admission_queue_full", "canceled", "timeout", "peer_unreachable", "peer_lost", "auth_failed", "stale_segment",
            "registration_failed", "resource_exhausted", "io_error", "bad_configuration", "internal", "count_overflow",
            "null_engine", "null_entries", "null_source", "bad_batch", "batch_full", "unknown_segment", "out_of_range",
            "permission_denied", "null_notification", "notification_too_long"}
        reasons = set(schema["definitions"]["reason"]["enum"])
        self.assertGreater(len(reasons), 40)
        self.assertEqual(reasons - seen - inexpressible, set())

    def test_configurations_of_the_deployed_kind_are_good(self):
        paths = sorted((CORPUS / "configs").glob("*.json"))
        self.assertGreater(len(paths), 3)
        result = self.explain("--lint", *paths)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("good (engine configuration)"), len(paths))

    def test_what_is_malformed_in_the_corpus_is_refused_with_its_places(self):
        for path in sorted((CORPUS / "malformed").glob("*.*json")):
            result = self.explain("--lint", path)
            self.assertEqual((result.returncode, result.stdout), (3, ""), path)
            for line in result.stderr.splitlines():
                self.assertRegex(line, FAULT)


class Output(Case):
    def test_json_is_one_document_with_every_vector_and_a_summary(self):
        result = self.explain("--format", "json", "-q", "--config", CORPUS / "categories/config.json",
                              CORPUS / "categories/rejections.json", CORPUS / "categories/downgrades.json")
        document = json.loads(result.stdout)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(document["summary"]["vectors"], len(document["results"]))
        self.assertEqual(sum(document["summary"]["by_status"].values()), len(document["results"]))
        self.assertEqual(list(document["results"][0]),
                         ["name", "index", "status", "requested", "downgrades", "effective", "plan", "error"])

    def test_ndjson_is_the_same_results_one_a_line(self):
        arguments = ["-q", "--config", CORPUS / "workloads/config.json", "--now", "1000", CORPUS / "workloads/intents.json"]
        lines = self.explain("--format", "ndjson", *arguments).stdout.splitlines()
        document = json.loads(self.explain("--format", "json", *arguments).stdout)
        self.assertEqual([json.loads(line) for line in lines], document["results"])

    def test_the_same_input_gives_the_same_output(self):
        arguments = ["--config", CORPUS / "workloads/config.json", "--now", "1000", CORPUS / "workloads/intents.json"]
        for form in ("text", "json", "ndjson"):
            first, second = (self.explain("--format", form, *arguments) for _ in range(2))
            self.assertEqual(first.stdout, second.stdout)

    def test_text_names_the_reference_host_and_the_rule_of_each_value(self):
        result = self.explain("--config", CORPUS / "quickstart/config.json", CORPUS / "quickstart/intents.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("fixed reference host", result.stdout)
        self.assertIn("qos.tenants[llm-serving].intents.foreground_get.priority", result.stdout)
        self.assertIn("device_missing: this host has no RDMA device", result.stdout)

    def test_names_from_files_cannot_reach_the_terminal_raw(self):
        path = self.write("v.json", json.dumps({"schema_version": 1, "vectors": [
            {"name": "\x1b[2J\u202egnp", "request": {"length": 1, "policy_name": "\x1b]0;x\x07"}}]}))
        result = self.explain(path)
        self.assertEqual(result.returncode, 1)
        self.assertNotRegex(result.stdout, "[\x00-\x09\x0b-\x1f\u202e]")

    def test_colour_is_for_terminals_that_do_not_refuse_it(self):
        def on_a_terminal(*arguments, **environment):
            ours, theirs = pty.openpty()
            with subprocess.Popen([EXPLAIN, *arguments, CORPUS / "quickstart/intents.json"], stdout=theirs,
                                  env={**os.environ, **environment}) as process:
                os.close(theirs)
                text = b""
                while True:
                    try:
                        piece = os.read(ours, 65536)
                    except OSError:
                        break
                    if not piece:
                        break
                    text += piece
                process.wait()
            os.close(ours)
            return b"\x1b[" in text

        clean = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        os.environ.clear()
        os.environ.update(clean)
        self.assertTrue(on_a_terminal())
        self.assertFalse(on_a_terminal("--no-color"))
        self.assertFalse(on_a_terminal(NO_COLOR="1"))
        self.assertNotIn("\x1b[", self.explain(CORPUS / "quickstart/intents.json").stdout)

    def test_strict_redaction_shows_no_tenant_policy_or_device(self):
        for form in ("text", "json", "ndjson"):
            result = self.explain("--redact", "strict", "--format", form, "-v", "--env",
                                  CORPUS / "environments/h20-8nic.json", "--config", CORPUS / "workloads/config.json",
                                  CORPUS / "workloads/intents.json")
            self.assertNotRegex(result.stdout, r"llm-serving|mlx5_|policy\[weights\]|10\.\d+\.\d+\.\d+")
            self.assertRegex(result.stdout, r"tenant-[0-9a-f]{10}")

    def test_no_redaction_warns(self):
        result = self.explain("--redact", "none", CORPUS / "quickstart/intents.json")
        self.assertIn("warning", result.stderr)


class Settings(Case):
    def effective(self, vector, *arguments, header=None):
        path = self.write("v.json", json.dumps({"schema_version": 1, **(header or {}), "vectors": [vector]}))
        return json.loads(self.explain("--format", "ndjson", *arguments, path).stdout)

    def test_the_vector_wins_over_the_option_over_the_file_over_the_configuration(self):
        config = self.write("c.json", '{"tenant": "from-config", "validation_mode": "compat"}')
        bare = {"request": {"length": 1, "intent_type": 99}}
        own = {**bare, "tenant": "from-vector", "mode": "strict"}
        header = {"tenant": "from-file", "mode": "strict"}
        option = ["--tenant", "from-option", "--mode", "compat"]
        tenant = lambda result: result["effective"]["tenant"]
        self.assertEqual(tenant(self.effective(bare, "--config", config)), "from-config")
        self.assertEqual(self.effective(bare, "--config", config, header=header)["status"], "invalid_enum")
        self.assertEqual(tenant(self.effective(bare, *option, header=header)), "from-option")
        self.assertEqual(self.effective(own, *option, header=header)["status"], "invalid_enum")
        own["mode"] = "compat"
        self.assertEqual(tenant(self.effective(own, *option)), "from-vector")

    def test_an_absolute_deadline_needs_a_pinned_clock(self):
        path = self.write("v.ndjson", '{"request":{"length":1,"deadline_ns":2000}}\n')
        self.one_fault(self.explain(path), path, text="pinned clock")
        result = self.explain("--format", "ndjson", "--now", "1500", path)
        self.assertEqual(json.loads(result.stdout)["requested"]["deadline"]["remaining_ns"], 500)

    def test_diff_shows_what_another_configuration_would_change(self):
        now = self.write("now.json", '{"qos": {"defaults": {"priority": "high"}}}')
        then = self.write("then.json", '{"qos": {"defaults": {"priority": "low"}}}')
        path = self.write("v.ndjson", GOOD + '\n{"name":"low","request":{"length":1,"requested_priority":"low"}}\n')
        result = self.explain("--config", now, "--diff", then, path)
        self.assertEqual(result.returncode, 1)
        self.assertIn('good: /effective/priority: now "high", then "low"', result.stdout)
        self.assertIn("1 of 2 vectors would change", result.stdout)
        same = self.explain("--config", now, "--diff", now, path)
        self.assertEqual((same.returncode, same.stdout), (0, "0 of 2 vectors would change\n"))
        document = json.loads(self.explain("--config", now, "--diff", then, "--format", "json", path).stdout)
        self.assertEqual(document["changes"][0]["differences"][0]["before"], '"high"')

    def test_check_prints_only_what_differs_and_says_no(self):
        path = self.write("v.ndjson", GOOD + '\n{"name":"bad","request":{"length":1},"expect":{"effective":{"priority":"low"}}}\n'
                          '{"name":"refused","request":{"length":0}}\n')
        result = self.explain("--check", path)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f'{path}:2: bad: /effective/priority: expected "low", got "high"', result.stdout)
        self.assertIn(f'{path}:3: refused: /status: expected "ok", got "invalid_argument"', result.stdout)
        self.assertIn("1 of 3 vectors met", result.stdout)

    def test_probe_prints_an_environment_that_can_be_planned_against(self):
        probed = self.explain("--probe", "--format", "json", "-q")
        self.assertEqual(probed.returncode, 0, probed.stderr)
        path = self.write("env.json", probed.stdout)
        self.assertEqual(self.explain("--lint", path).returncode, 0)
        self.assertEqual(self.explain("--probe", "-q").returncode, 0)


class Usage(Case):
    def test_wrong_usage_is_exit_code_2_and_says_what_is_wrong(self):
        good = str(self.write("v.ndjson", GOOD + "\n"))
        for arguments in ([], ["--no-such-option", good], ["--mode", "lax", good], ["--tenant", "a b", good],
                          ["--now", "0", good], ["--now", "x", good], ["--now", "18446744073709551616", good],
                          ["--format", "xml", good], ["--redact", "some", good], ["--check", "--lint", good],
                          ["--probe", "--env", good, good], ["--lint"], ["--lint", "--format", "json", good],
                          ["-", "-"], ["--config", "-", "-"]):
            result = self.explain(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertTrue(result.stderr.strip(), arguments)

    def test_help_and_version_are_data_on_standard_output(self):
        for option in ("--help", "--version"):
            result = self.explain(option)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("tent-explain", result.stdout)


class Malformed(Case):
    def test_a_truncated_file(self):
        text = json.dumps({"schema_version": 1, "vectors": [{"request": {"length": 1}}]}, indent=1)
        for length in range(len(text)):
            path = self.write("v.json", text[:length])
            self.one_fault(self.explain(path), path)

    def test_nesting_of_100000(self):
        for opening in (b"[", b'{"a":'):
            path = self.write("deep.json", opening * 100_000)
            self.one_fault(self.explain(path), path, 1, 64 * len(opening) + 1, "64")

    def test_invalid_utf8_and_nul_bytes(self):
        path = self.write("v.json", b'{"schema_version": 1,\n "vectors": [{"name": "\xff", "request": {"length": 1}}]}')
        self.one_fault(self.explain(path), path, 2, 24, "UTF-8")
        path = self.write("v.json", b'{"schema_version": 1,\n \x00 "vectors": []}')
        self.one_fault(self.explain(path), path, 2, 2, "NUL")

    def test_a_string_of_1_gib(self):
        path = self.root / "huge.json"
        with open(path, "wb") as file:
            file.write(b'{"schema_version": 1, "tenant": "')
            file.truncate(1 << 30)
        self.one_fault(self.explain(path), path, text="64 MiB")
        path = path.rename(self.root / "huge.ndjson")
        self.one_fault(self.explain(path), path, 1, (1 << 20) + 1, "1 MiB")

    def test_a_directory_and_a_missing_file(self):
        self.one_fault(self.explain(self.root), self.root, text="directory")
        missing = self.root / "missing.json"
        self.one_fault(self.explain(missing), missing, text="No such file")
        for option in ("--config", "--env", "--diff"):
            self.one_fault(self.explain(option, missing, self.write("v.ndjson", GOOD)), missing, text="No such file")

    def test_an_unreadable_file(self):
        path = self.write("v.json", "{}")
        path.chmod(0)
        as_nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        os.chmod(self.root, 0o755)
        try:
            result = self.explain(path, **as_nobody)
        except PermissionError:
            self.skipTest("the build folder is closed to the user nobody")
        self.one_fault(result, path, text="Permission denied")

    def test_a_faulty_document_explains_nothing_and_tells_all_faults(self):
        path = self.write("v.json", '{"schema_version": 1, "vectors": [\n{"request": {"lenght": 1}},\n'
                          '{"request": {"length": 1, "opcode": "raed"}},\n{"request": {"length": 1}}]}')
        result = self.explain("--format", "json", path)
        self.assertEqual(result.returncode, 3)
        self.assertEqual(json.loads(result.stdout)["results"], [])
        self.assertIn(f"{path}:2:", result.stderr)
        self.assertIn('did you mean "length"', result.stderr)
        self.assertIn(f"{path}:3:", result.stderr)

    def test_one_kind_of_file_is_not_taken_for_another(self):
        vectors = self.write("v.json", '{"schema_version": 1, "vector": []}')
        self.assertIn('did you mean "vectors"', self.explain("--lint", vectors).stderr)
        environment = CORPUS / "environments/host-only.json"
        self.one_fault(self.explain("--config", environment, self.write("v.ndjson", GOOD)), environment,
                       text="is this a file of intent vectors, or an environment?")

    def test_a_faulty_line_leaves_the_others(self):
        path = self.write("v.ndjson", GOOD + "\n{\n\n" + GOOD + "\n" + "x" * 2_000_000 + "\n" + GOOD)
        result = self.explain("--format", "ndjson", path)
        self.assertEqual(result.returncode, 3)
        self.assertEqual([json.loads(line)["index"] for line in result.stdout.splitlines()], [0, 2, 4])
        self.assertEqual([line.split(":")[1] for line in result.stderr.splitlines()], ["2", "5"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
