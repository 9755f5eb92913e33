#!/usr/bin/env python3
"""What tent-explain says is what tent-submit does: the same results for every file of the corpus, and the plans carried out.

    submit_parity_test.py TENT_SUBMIT TENT_EXPLAIN SOURCE_DIR
"""

import json
import subprocess
import sys
import unittest

from submit_case import CORPUS, EXPLAIN, TIME_LIMIT, Case

PRIORITIES = ["high", "medium", "low"]


def files_of_the_corpus():
    """Each file of vectors that may be run, with its configuration."""
    for path in sorted(CORPUS.glob("*/*.json")):
        config = path.parent / "config.json"
        if path.parent.name == "malformed" or path == config or not config.exists():
            continue
        if "clock" not in json.loads(path.read_text()):
            yield config, path


def without_times(result):
    """A result without what depends on when it was made, and without what only execution adds."""
    result = {key: value for key, value in result.items() if key != "execution"}
    deadline = (result["requested"] or {}).get("deadline")
    if deadline:
        result["requested"] = {**result["requested"], "deadline": {"state": deadline["state"]}}
    if result["error"] and result["error"]["field"] == "deadline_ns":
        result["error"] = {**result["error"], "value": None, "message": None}
    return result


class Parity(Case):
    def explained(self, config, path):
        result = subprocess.run([EXPLAIN, "--probe", "-q", "--format", "json", "--config", config, path], check=False,
                                stdout=subprocess.PIPE, text=True, timeout=TIME_LIMIT)
        return self.valid(result.stdout)["results"]

    def test_both_tell_the_same_of_every_file(self):
        compared = 0
        for config, path in files_of_the_corpus():
            with self.subTest(path=path.name):
                submitted = self.submit("--dry-run", "-q", "--format", "json", "--config", config, path)
                submitted = self.valid(submitted.stdout)["results"]
                explained = self.explained(config, path)
                self.assertEqual(list(map(without_times, submitted)), list(map(without_times, explained)))
                compared += len(explained)
        self.assertGreater(compared, 80)

    def test_what_runs_is_what_was_explained(self):
        ran = 0
        for config, path in files_of_the_corpus():
            document = self.valid(self.submit("-q", "--format", "json", "--config", config, path).stdout)
            self.assertEqual(list(map(without_times, document["results"])),
                             list(map(without_times, self.explained(config, path))))
            carried = [result for result in document["results"] if result["execution"]]
            for result in carried:
                with self.subTest(path=path.name, name=result["name"]):
                    primary = result["plan"]["stages"][0]["backend"]
                    self.assertEqual(result["plan"]["path_kind"], "direct")
                    self.assertEqual(result["execution"]["transport"], primary)
                    self.assertEqual(result["execution"]["attempts"],
                                     [{"transport": primary, "path_kind": "direct", "reason": None, "aftermath": None}])
            self.assert_in_order(carried)
            ran += len(carried)
        self.assertGreater(ran, 20)

    def assert_in_order(self, results):
        """What each engine hands to a transport comes in the order of the effective priority."""
        ways = {}
        for result in results:
            execution, effective = result["execution"], result["effective"]
            way = ways.setdefault((effective["tenant"], execution["transport"]), [])
            way.append((execution["dispatch_order"], PRIORITIES.index(effective["priority"])))
        for way in ways.values():
            priorities = [priority for _, priority in sorted(way)]
            self.assertEqual(priorities, sorted(priorities))

    def test_of_many_at_once_the_urgent_ones_go_first(self):
        lines = [json.dumps({"name": f"v{i}", "request": {"length": 4096, "requested_priority": PRIORITIES[i * 7 % 3],
                                                           "transport_hint": ["tcp", "shm"][i % 2]}}) for i in range(600)]
        document = self.run_json("-", input="\n".join(lines))
        self.assert_in_order(document["results"])
        orders = [result["execution"]["dispatch_order"] for result in document["results"]]
        self.assertEqual(sorted(orders), list(range(1, 601)))

    def test_a_disabled_transport_is_not_used(self):
        config = self.write("c.json", '{"transports": {"shm": {"enable": false}}}')
        path = self.file({"name": "v", "request": {"length": 4096}})
        [result] = self.run_json("--config", config, path)["results"]
        self.assertEqual(result["execution"]["transport"], "tcp")
        self.assertEqual(without_times(result), without_times(self.explained(config, path)[0]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
