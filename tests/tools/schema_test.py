#!/usr/bin/env python3
"""The JSON Schemas against the corpus and the README, by a validator that is not ours.

    schema_test.py SOURCE_DIR

What a file is read as follows from where it lies and what it is called: environments/ or environment*, configs/ or *config*,
*.ndjson and *.jsonl (a vector a line), everything else intent vectors.
"""

import json
import re
import sys
import unittest
from pathlib import Path

try:
    from jsonschema import Draft7Validator, RefResolver
    from jsonschema.validators import extend
except ImportError:
    print("skipped: python3-jsonschema is not installed (scripts/setup test)")
    sys.exit(77)

SOURCE = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
SCHEMAS = {path.name.split(".")[0]: json.loads(path.read_text()) for path in SOURCE.glob("schemas/*.schema.json")}

# draft-07 takes 1.0 for an integer; our readers do not, and where they are compared it must not matter.
StrictValidator = extend(
    Draft7Validator,
    type_checker=Draft7Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)

# Faults that a schema cannot express: they compare values of one file with each other, or count the file's nesting.
BEYOND_SCHEMAS = ("there twice", "contradicts", "over max_size", "pinned clock", "room for", "nested deeper")


def load(text):
    """JSON as our readers take it: no duplicate keys, no NaN."""

    def unique(pairs):
        value = dict(pairs)
        if len(value) != len(pairs):
            raise ValueError("duplicate key")
        return value

    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)


def kind_of(path):
    name = path.name
    if name.startswith("environment") or "environments" in path.parts:
        return "environment"
    if path.suffix in (".ndjson", ".jsonl"):
        return "vector"
    if "config" in name or "configs" in path.parts:
        return "engine-config"
    if name.startswith("results"):
        return "results"
    return "intent-vectors"


def validator_for(kind, cls=Draft7Validator):
    if kind != "vector":
        return cls(SCHEMAS[kind])
    schema = SCHEMAS["intent-vectors"]
    return cls({"$ref": "#/definitions/vector"}, resolver=RefResolver("", schema))


def documents_of(path):
    """The JSON values of a file, each with the number of its line (0: the whole file)."""
    text = path.read_bytes().decode("utf-8-sig")
    if kind_of(path) == "vector":
        return [(number, load(line)) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    return [(0, load(text))]


def describe(error):
    return f"/{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"


def pointer_of(steps):
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


class Schemas(unittest.TestCase):
    def test_there_is_one_for_each_format_and_each_is_draft_07(self):
        self.assertLessEqual({"engine-config", "environment", "intent-vectors", "results"}, set(SCHEMAS))
        for name, schema in SCHEMAS.items():
            with self.subTest(name):
                self.assertEqual(schema["$schema"], "http://json-schema.org/draft-07/schema#")
                self.assertTrue(schema["$id"] and schema["title"] and schema["description"])
                Draft7Validator.check_schema(schema)

    def test_every_reference_leads_somewhere_and_every_definition_is_used(self):
        for name, schema in SCHEMAS.items():
            with self.subTest(name):
                used = set(re.findall(r'"\$ref": "#/definitions/(\w+)"', json.dumps(schema)))
                self.assertEqual(used - {"vector"}, set(schema["definitions"]) - {"vector"})

    def test_every_key_of_a_result_must_be_there(self):
        def objects(schema):
            if isinstance(schema, dict):
                if "properties" in schema and schema.get("type") == "object":
                    yield schema
                for value in schema.values():
                    yield from objects(value)

        for schema in objects(SCHEMAS["results"]):
            self.assertEqual(set(schema["properties"]) - set(schema["required"]) - {"execution"}, set())


class Corpus(unittest.TestCase):
    def test_every_file_is_valid(self):
        files = [
            path
            for path in sorted((SOURCE / "corpus").rglob("*"))
            if path.suffix in (".json", ".ndjson", ".jsonl") and "malformed" not in path.parts
        ]
        self.assertGreater(len(files), 0)
        for path in files:
            validator = validator_for(kind_of(path.relative_to(SOURCE)))
            for line, document in documents_of(path):
                with self.subTest(path=str(path.relative_to(SOURCE)), line=line):
                    self.assertEqual([describe(error) for error in validator.iter_errors(document)], [])

    def test_the_examples_of_the_readme_are_valid(self):
        readme = SOURCE / "README.md"
        blocks = re.findall(r"^```json\n(.*?)^```", readme.read_text() if readme.exists() else "", re.M | re.S)
        for number, block in enumerate(blocks, 1):
            document = load(block)
            if "vectors" in document:
                kind = "intent-vectors"
            elif "results" in document:
                kind = "results"
            elif document.keys() & {"policy", "qos", "transports"}:
                kind = "engine-config"
            elif document.keys() & {"local", "peer"}:
                kind = "environment"
            else:
                continue
            with self.subTest(block=number, kind=kind):
                self.assertEqual([describe(error) for error in validator_for(kind).iter_errors(document)], [])


class MalformedCorpus(unittest.TestCase):
    """What the readers refuse, the schemas refuse at the same place, as far as a schema can say it."""

    def test_the_schemas_find_what_the_readers_find(self):
        compared = 0
        for path in sorted((SOURCE / "corpus" / "malformed").glob("*json")):
            try:
                documents = documents_of(path)
            except ValueError:
                continue  # no JSON: nothing for a schema to look at
            faults = re.findall(r"^(\d+):\d+: (/.*?): (.*)$", path.with_suffix(".faults").read_text(), re.M)
            validator = validator_for(kind_of(path.relative_to(SOURCE)), StrictValidator)
            for line, document in documents:
                places = {pointer_of(error.absolute_path) for error in validator.iter_errors(document)}
                for at_line, pointer, message in faults:
                    if (line and int(at_line) != line) or any(words in message for words in BEYOND_SCHEMAS):
                        continue
                    pointer = "" if pointer == "/" else pointer
                    with self.subTest(path=path.name, pointer=pointer, message=message):
                        # A key that may not be there, or may not be called so, is reported at its object.
                        self.assertTrue(places & {pointer, pointer.rpartition("/")[0]} or self.above(places, pointer))
                    compared += 1
        self.assertGreater(compared, 50)

    @staticmethod
    def above(places, pointer):
        """An alternative that fails as a whole is reported where it begins."""
        return any(place and pointer.startswith(place + "/") for place in places)


if __name__ == "__main__":
    unittest.main(verbosity=1)
