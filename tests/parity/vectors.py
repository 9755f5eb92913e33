"""Vectors of intents for every surface: those of files, and those that a generator makes from a seed.

A vector is what stands in a file of vectors (schemas/intent-vectors.schema.json). One more key is known here alone,
since files have no addresses: `null_source`.
"""

import json
import re

KNOWN_SIZE = 88
NOW_NS = 123456789012345
THIRTY_DAYS_NS = 30 * 24 * 3600 * 10**9

NAMES = {
    "opcode": ["read", "write"],
    "intent_type": ["unspec", "foreground_get", "background_prefetch", "migration", "checkpoint", "weight_loading",
                    "staging_internal"],
    "requested_priority": ["unspec", "high", "medium", "low"],
    "priority": ["high", "medium", "low"],
    "transport_hint": ["unspec", "rdma", "mnnvl", "shm", "nvlink", "gds", "io_uring", "tcp", "ascend", "sunrise_link",
                       "tpu", "ub", "mpcomm"],
}
ALIASES = {"iouring": "io_uring", "ascend_direct": "ascend"}


def number(field, value):
    """The number of a value that may be given by its name."""
    if isinstance(value, int):
        return value
    name = re.sub(r"^(tent_)?(intent|priority|transport|opcode)_", "", value.lower())
    return NAMES[field].index(ALIASES.get(name, name))


def of(vector, field):
    return number(field, vector["request"].get(field, 0))


def size_of(value):
    """Bytes, of an integer or of a size with its unit."""
    if isinstance(value, int):
        return value
    digits, unit = re.fullmatch(r"(\d+)([KMGT]?)(?:i?B)?", value).groups()
    return int(digits) << 10 * " KMGT".index(unit or " ")


def length_of(vector):
    return size_of(vector["request"]["length"])


def offset_of(vector):
    return size_of(vector["request"].get("target", {}).get("offset", 0))


def has_plain_memory(vector):
    """Whether it is about host memory of one peer, which an address can stand for."""
    request = vector["request"]
    source, target = request.get("source", {}), request.get("target", {})
    return (target.get("type", "memory") == "memory" and
            source.get("memory", "cpu") == target.get("memory", "cpu") == "cpu")


def budget_ns(vector):
    """The budget; None where there is none."""
    request = vector["request"]
    if "deadline_budget" in request:
        digits, unit = re.fullmatch(r"(\d+)(ns|us|ms|s|m|h)", request["deadline_budget"]).groups()
        return int(digits) * {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}[unit]
    return request.get("deadline_budget_ns")


def deadline_ns(vector, now_ns):
    """As the surfaces that take no budget have it; None where a budget gives no time."""
    budget = budget_ns(vector)
    if budget is None:
        return vector["request"].get("deadline_ns") or 0
    return now_ns + budget if budget <= min(THIRTY_DAYS_NS, 2**64 - 1 - now_ns) else None


def of_file(path):
    """The vectors of a file, each with the mode and the tenant of its header, and the time."""
    document = json.loads(path.read_text(encoding="utf-8"))
    header = {key: document[key] for key in ("mode", "tenant") if key in document}
    return [{**header, **vector} for vector in document["vectors"]], document.get("clock", {}).get("now_ns", NOW_NS)


class Generator:
    """Random vectors; the same seed gives the same."""

    WRONG_NUMBERS = [-1, 99, 2**31 - 1, -2**31]
    POLICY_NAMES = ["", "-x", ".x", "a b", "a\0b", "naïve", "a" * 127, "a" * 128, "nobody", "A.b-c_9"]
    LENGTHS = [1, 4095, 4096, 65536, 1 << 20, 1 << 32, 1 << 63, 2**64 - 1, 0]
    OFFSETS = [0, 0, 0, 1, 4096, 1 << 32, 2**64 - 4096, 2**64 - 1]
    LAYOUTS = [("struct_size", [0, 47, 48, 52, 56, 60, 64, 72, 76, 80, 84, 87, 88, 89, 96, 4096, 4104]),
               ("entry_stride", [0, 40, 48, 80, 88, 92, 96, 65536, 65544]), ("schema_version", [0, 1, 2, 2**32 - 1]),
               ("entry_schema_version", [0, 1, 2]), ("reserved_opcode", [1, 2**32 - 1]), ("reserved0", [1, 2**31]),
               ("misalign", [1, 2, 4, 7])]

    def __init__(self, random, policies, layouts=True):
        self.random = random
        self.policies = policies
        self.layouts = layouts

    def often(self, share):
        return self.random.random() < share

    def value(self, field, wrong=0.1):
        known = len(NAMES[field])
        return self.random.choice(self.WRONG_NUMBERS + [known]) if self.often(wrong) else self.random.randrange(known)

    def deadline(self, now_ns):
        edges = [now_ns, now_ns + 1, now_ns - 1, now_ns + 5_000_000, now_ns + THIRTY_DAYS_NS,
                 now_ns + THIRTY_DAYS_NS + 1, 1, 1_790_000_000_000_000_000, 2**63 - 1, 2**63, 2**64 - 1]
        budgets = [0, 1, 5_000_000, THIRTY_DAYS_NS, THIRTY_DAYS_NS + 1, 2**63, 2**64 - 1 - now_ns, 2**64 - now_ns,
                   2**64 - 1, self.random.randrange(2**64)]
        if self.often(0.3):
            return {"deadline_budget_ns": self.random.choice(budgets)}
        return {"deadline_ns": self.random.choice(edges)}

    def vector(self, now_ns):
        request = {"length": self.random.choice(self.LENGTHS[:5] if self.often(0.8) else self.LENGTHS)}
        if self.often(0.5):
            request["opcode"] = self.value("opcode", 0.06)
        if self.often(0.1):
            request["target"] = {"offset": self.random.choice(self.OFFSETS)}
        if self.often(0.7):
            request["intent_type"] = self.value("intent_type")
        if self.often(0.6):
            request["requested_priority"] = self.value("requested_priority")
        if self.often(0.4):
            request.update(self.deadline(now_ns))
        if self.often(0.4):
            malformed = self.often(0.3) or not self.policies
            request["policy_name"] = self.random.choice(self.POLICY_NAMES if malformed else self.policies)
        if self.often(0.4):
            request["transport_hint"] = self.value("transport_hint", 0.05)
        if self.often(0.08):
            request["flags"] = self.random.choice([1, 1 << 31, 1 << 32, 1 << 63, 2**64 - 1])
        vector = {"request": request}
        if self.often(0.02):
            vector["null_source"] = True
        if self.often(0.7):
            vector["mode"] = self.random.choice(["strict", "compat"])
        if self.layouts and self.often(0.08):
            if self.often(0.3):
                vector["layout"] = {"struct_size": 96, "tail": self.random.choice(["00", "01", "0000000000000001"])}
            else:
                chosen = self.random.sample(self.LAYOUTS, self.random.choice([1, 1, 2]))
                vector["layout"] = {key: self.random.choice(values) for key, values in chosen}
        return vector


def shrunk(vector, differs):
    """The smallest vector found that still makes a difference: with the fewest and the smallest values."""
    def smaller(key, value):
        """Candidates in place of a value, the smallest first; None: without it."""
        yield None
        if isinstance(value, int) and not isinstance(value, bool):
            yield from dict.fromkeys(sign * abs(value) // step for step in (abs(value) + 1, 2**16, 16, 2)
                                     for sign in (1, -1))
        if key == "policy_name" and value:
            yield from (value[:1], value[:len(value) // 2], value[:-1])

    def parts(tree, path=()):
        for key, value in tree.items():
            yield (*path, key), value
            if isinstance(value, dict):
                yield from parts(value, (*path, key))

    def replaced(tree, path, value):
        copy = {key: part for key, part in tree.items() if key != path[0] or value is not None or len(path) > 1}
        if len(path) > 1:
            copy[path[0]] = replaced(tree[path[0]], path[1:], value)
        elif value is not None:
            copy[path[0]] = value
        return copy

    def size(tree):
        return len(json.dumps(tree)), json.dumps(tree)

    while True:
        candidates = [replaced(vector, path, value) for path, old in parts(vector)
                      if path not in (("request",),) for value in smaller(path[-1], old)]
        for candidate in sorted((c for c in candidates if "length" in c["request"]), key=size):
            if size(candidate) < size(vector) and differs(candidate):
                vector = candidate
                break
        else:
            return vector
