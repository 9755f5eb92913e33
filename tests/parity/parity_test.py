#!/usr/bin/env python3
"""Every surface decides alike: each vector through the C API, the C++ API, pybind, tent.explain and tent-explain gives
the same result object, apart from the surface's name; and what a submit comes to is what was explained.

    parity_test.py PROGRAMS TENT_EXPLAIN CORPUS [--seed S] [--count N] [--submits N] [CONFIG VECTORS]...

PROGRAMS is the folder of c_surface and cpp_surface. The corpus, pairs of files that are given, then N random vectors. A
difference is printed as the smallest vector that shows it. Millions, by hand, from the root:

    PYTHONPATH=build/release/python tests/parity/parity_test.py build/release/tests/parity
        build/release/bin/tent-explain corpus --seed 1 --count 1000000
"""

import argparse
import collections
import itertools
import json
import random
import sys
import tempfile
import unittest
from pathlib import Path

import surfaces
import vectors

ENVIRONMENT = "environments/host-only.json"
CHUNK = 2000
ARGUMENTS = None

# What random vectors are decided by, besides the configurations of the corpus: a contract that rejects, one that
# downgrades, policies of the intent, the size and the priority, the mode of the configuration.
CONFIGS = [
    {"validation_mode": "compat"},
    {"policy": [
        {"name": "urgent", "segment_type": "memory", "priority": "high", "transports": ["shm", "tcp"]},
        {"name": "small", "segment_type": "memory", "max_size": 4096, "transports": ["tcp", "shm"]},
        {"name": "prefetch", "segment_type": "memory", "intent_type": "background_prefetch", "transports": ["tcp"],
         "service_level": 3, "traffic_class": 96},
        {"name": "any", "segment_type": "memory", "priority": "low", "transports": ["tcp", "rdma"]}],
     "qos": {"version": 1, "defaults": {"priority": "medium"}, "tenants": [
         {"name": "stern", "defaults": {"on_unauthorized": "reject", "allowed_policies": ["any", "small"]},
          "intents": {"migration": {"priority": "low"}, "checkpoint": {"allowed_transports": ["tcp"]}}},
         {"name": "lenient", "defaults": {"on_unauthorized": "downgrade", "allowed_policies": ["any"],
                                          "allowed_degraded_actions": [], "max_inflight_bytes": "64MiB"}}]},
     "admission": {"expired": "reject"}},
]
TENANTS = [None, "stern", "lenient", "narrow", "nobody"]


class Arena:
    """All surfaces with one configuration, one tenant and one environment."""

    def __init__(self, config, tenant):
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "config.json"
        settings = {**config, "rpc_server_hostname": "127.0.0.1", "rpc_server_port": 0}
        if tenant is not None:
            settings["tenant"] = tenant
        path.write_text(json.dumps(settings))
        self.path = str(path)
        environment = str(Path(ARGUMENTS.corpus) / ENVIRONMENT)
        self.all = [kind(self.path, environment) for kind in (
            surfaces.Explain, surfaces.C, surfaces.Cpp, surfaces.Deployed, surfaces.Pybind, surfaces.HighLevel)]
        self.all[0].program = ARGUMENTS.explain
        self.all[1].program = ARGUMENTS.programs + "/c_surface"
        self.all[2].program = self.all[3].program = ARGUMENTS.programs + "/cpp_surface"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for surface in self.all:
            surface.close()
        self.folder.cleanup()


def without_tenant(vector):
    return {key: value for key, value in vector.items() if key != "tenant"}


def comparable(answer, vector):
    """What a legacy vector's answer has in common with that of the same request by later surfaces; None: nothing."""
    if vector.get("surface") == "legacy" and answer and answer["error"]:
        # A legacy priority is never rejected.
        return None if answer["error"]["reason"] == "priority_above_contract" else {"status": answer["status"]}
    return answer


class Parity(unittest.TestCase):
    pairs = collections.Counter()
    submits = collections.Counter()

    @classmethod
    def tearDownClass(cls):
        for (one, other), count in sorted(cls.pairs.items()):
            print(f"parity: {count:8} vectors alike by {one} and {other}")
        for name, count in sorted(cls.submits.items()):
            print(f"parity: {count:8} submits by {name} came to what was explained")
        sys.stdout.flush()

    def difference(self, arena, vector, now_ns):
        """Two surfaces that differ about a vector, and their answers; None where all agree."""
        answers = [(surface.name, comparable(surface.explain([vector], now_ns)[0], vector)) for surface in arena.all]
        answers = [(name, answer) for name, answer in answers if answer is not None]
        for one, other in itertools.combinations(answers, 2):
            if one[1] != other[1]:
                return one, other
        return None

    def compare(self, arena, given, now_ns):
        """Holds all surfaces to each other; how many vectors at least two of them express."""
        given = [without_tenant(vector) for vector in given]
        answers = [surface.explain(given, now_ns) for surface in arena.all]
        compared = 0
        for vector, row in zip(given, zip(*answers)):
            expressed = [(surface.name, comparable(answer, vector)) for surface, answer in zip(arena.all, row)]
            expressed = [(name, answer) for name, answer in expressed if answer is not None]
            for (one, first), (other, second) in itertools.combinations(expressed, 2):
                if first != second:
                    self.fail(self.report(arena, vector, now_ns))
                self.pairs[one, other] += 1
            compared += len(expressed) > 1
        return compared

    def report(self, arena, vector, now_ns):
        smallest = vectors.shrunk(vector, lambda v: self.safely(arena, v, now_ns) is not None)
        (one, first), (other, second) = self.difference(arena, smallest, now_ns)
        return (f"{one} and {other} differ about {json.dumps(smallest)} at {now_ns} "
                f"with {Path(arena.path).read_text()}\n"
                f"{one}: {json.dumps(first)}\n{other}: {json.dumps(second)}")

    def safely(self, arena, vector, now_ns):
        """A smaller vector may be one that no file could hold."""
        try:
            return self.difference(arena, vector, now_ns)
        except (RuntimeError, ValueError, KeyError, TypeError):
            return None

    def compare_file(self, config, path):
        given, now_ns = vectors.of_file(Path(path))
        settings = json.loads(Path(config).read_text(encoding="utf-8"))
        compared = 0
        for tenant in {vector.get("tenant") for vector in given}:
            with Arena(settings, tenant) as arena:
                mine = [vector for vector in given if vector.get("tenant") == tenant]
                compared += self.compare(arena, mine, now_ns)
        return compared

    def test_the_corpus(self):
        corpus = Path(ARGUMENTS.corpus)
        compared = sum(self.compare_file(corpus / folder / "config.json", path)
                       for folder in ("categories", "workloads", "submit", "quickstart")
                       for path in sorted((corpus / folder).glob("*.json")) if path.name != "config.json")
        self.assertGreater(compared, 70)

    def test_every_combination(self):
        """Of each intent, priority, hint and mode, and numbers that none has, by a contract that rejects and one that
        downgrades."""
        numbers = {field: [*range(len(vectors.NAMES[field])), 99] for field in (
            "intent_type", "requested_priority", "transport_hint")}
        given = [{"mode": mode, "request": {"length": 4096, **dict(zip(numbers, values)), **policy}}
                 for values in itertools.product(*numbers.values()) for mode in ("strict", "compat")
                 for policy in ({}, {"policy_name": "any"})]
        for tenant in ("stern", "lenient"):
            with Arena(CONFIGS[1], tenant) as arena:
                self.assertEqual(self.compare(arena, given, vectors.NOW_NS), len(given))

    def test_the_files_that_were_given(self):
        for config, path in zip(ARGUMENTS.files[::2], ARGUMENTS.files[1::2]):
            self.assertGreater(self.compare_file(config, path), 0)

    def arenas(self, seed):
        """Configurations and tenants without end, the same for the same seed."""
        chooses = random.Random(seed)
        corpus = Path(ARGUMENTS.corpus)
        configs = CONFIGS + [json.loads((corpus / folder / "config.json").read_text())
                             for folder in ("categories", "quickstart")]
        while True:
            config = chooses.choice(configs)
            policies = [entry["name"] for entry in config.get("policy", []) if "name" in entry]
            yield chooses, config, policies, chooses.choice(TENANTS)

    def test_random_vectors(self):
        left = ARGUMENTS.count
        for chooses, config, policies, tenant in self.arenas(ARGUMENTS.seed):
            if left <= 0:
                break
            now_ns = chooses.choice([vectors.NOW_NS, 1, 10**9, 40_000_000_000_000_000])
            generator = vectors.Generator(chooses, policies)
            given = [generator.vector(now_ns) for _ in range(min(left, CHUNK if left > 10 * CHUNK else CHUNK // 4))]
            for vector in given:
                if chooses.random() < 0.03:  # defaults of deployed callers
                    vector.clear()
                    vector.update(surface="legacy", request={
                        "length": chooses.choice([1, 4096]), "priority": chooses.choice([0, 1, 2, 3, -1]),
                        "transport_hint": chooses.randrange(13), "opcode": chooses.choice([0, 1, 7])})
            with Arena(config, tenant) as arena:
                self.compare(arena, given, now_ns)
            left -= CHUNK if left > 10 * CHUNK else CHUNK // 4

    def test_what_a_submit_comes_to_is_what_was_explained(self):
        left = ARGUMENTS.submits
        for chooses, config, policies, tenant in self.arenas(ARGUMENTS.seed + 1):
            if left <= 0:
                break
            generator = vectors.Generator(chooses, policies, layouts=False)
            now_ns = vectors.NOW_NS
            given = [self.for_a_submit(generator.vector(now_ns), chooses) for _ in range(100)]
            left -= len(given)
            with Arena(config, tenant) as arena:
                self.submit_all(arena, [vector for vector in given if arena.all[1].expresses(vector, now_ns)])

    def for_a_submit(self, vector, chooses):
        """With a deadline that does not depend on the microsecond in which it is looked at."""
        request = vector["request"]
        if request.pop("deadline_ns", None) is not None:
            request["deadline_ns"] = chooses.choice([1, 2**64 - 1, surfaces.tent.deadline_after(3600)])
        if request.pop("deadline_budget_ns", None) is not None:
            request["deadline_budget_ns"] = 3600 * 10**9
        request["priority"] = chooses.choice([0, 1, 2, 3])  # of the legacy request
        return vector

    def check_legacy(self, arena, given, answers):
        """A legacy submit refuses what tent-explain says it does, but for what only its task's status may tell."""
        legacy = [{"surface": "legacy", "request": {key: vector["request"][key] for key in (
            "opcode", "length", "priority", "transport_hint") if key in vector["request"]}} for vector in given]
        explained = arena.all[0].explain(legacy, vectors.NOW_NS)
        for vector, result, answer in zip(given, explained, answers):
            if vectors.length_of(vector) >= 1 << 63 or {"target", "null_source"} & {*vector, *vector["request"]}:
                continue  # where it lies decides
            refused = result["error"] is not None and result["error"]["reason"] != "no_transport"
            with self.subTest(vector=vector, config=Path(arena.path).read_text()):
                self.assertEqual(answer["legacy"] != "ok", refused, (answer["legacy"], result["error"]))
            self.submits["C (legacy)"] += 1

    def submit_all(self, arena, given):
        in_process = surfaces.Submitting(arena.path)
        try:
            answers = arena.all[1].submit(given)
            self.check_legacy(arena, given, answers)
            rows = zip(given, answers, arena.all[2].submit(given), map(in_process.submit, given))
            for vector, by_c, by_cpp, (by_pybind, by_transfer) in rows:
                outcomes = {"C": by_c, "C++": by_cpp, "pybind": by_pybind, "tent.transfer": by_transfer}
                for name, answer in outcomes.items():
                    with self.subTest(surface=name, vector=vector, config=Path(arena.path).read_text()):
                        explained = answer["explained"]
                        error = explained["error"]
                        expected = "ok" if error is None else "/".join(
                            [error["category"], error["reason"], error["field"] or ""])
                        self.assertEqual((answer["plain"], answer["notified"]), (expected, expected))
                        self.assertEqual(answer["plain"], by_c["plain"])
                        self.submits[name] += 1
        finally:
            in_process.close()


class Shrinking(unittest.TestCase):
    """That a difference is reported small."""

    def test_the_smallest_vector_is_found(self):
        generator = vectors.Generator(random.Random(5), ["bulk"])

        def differs(vector):
            request = vector["request"]
            return request.get("flags", 0) >= 1 << 32 and vectors.of(vector, "intent_type") == 3

        found = 0
        while found < 3:
            vector = generator.vector(vectors.NOW_NS)
            vector["request"]["intent_type"] = "migration"
            if not differs(vector):
                continue
            smallest = vectors.shrunk(vector, differs)
            self.assertEqual(set(smallest["request"]), {"length", "flags", "intent_type"})
            self.assertLess(smallest["request"]["flags"], 1 << 33)
            self.assertEqual((smallest["request"]["length"], set(smallest)), (0, {"request"}))
            found += 1

    def test_a_difference_is_told_with_it(self):
        class Lies(surfaces.Surface):
            name = "lies"

            def explain_all(self, vectors_, now_ns):
                return [{"status": "ok" if v["request"].get("flags", 0) < 7 else "no", "error": None} for v in vectors_]

        class Truth(Lies):
            name = "truth"

            def explain_all(self, vectors_, now_ns):
                return [{"status": "ok", "error": None} for _ in vectors_]

        with Arena({}, None) as arena:
            real, arena.all = arena.all, [Lies("", ""), Truth("", "")]
            generator = vectors.Generator(random.Random(1), ["bulk"])
            try:
                with self.assertRaises(AssertionError) as told:
                    Parity("test_the_corpus").compare(arena, [generator.vector(9) for _ in range(300)], 9)
            finally:
                arena.all = real
        self.assertIn('lies and truth differ about {"request": {"length": 0, "flags": ', str(told.exception))


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("explain")
    parser.add_argument("corpus")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--submits", type=int, default=300)
    parser.add_argument("files", nargs="*", metavar="CONFIG VECTORS")
    ARGUMENTS = parser.parse_intermixed_args()
    unittest.main(argv=sys.argv[:1], verbosity=1)


if __name__ == "__main__":
    main()
