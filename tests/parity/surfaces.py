"""The surfaces: each takes vectors and gives what becomes of them, as result objects without the surface's name.

`None` stands for a vector that a surface cannot express, `{"call": [category, reason, field]}` for one that it refuses
as a call.
"""

import fractions
import json
import os
import subprocess
from pathlib import Path

import tent

from vectors import KNOWN_SIZE, budget_ns, deadline_ns, has_plain_memory, length_of, of, offset_of

MODES = {None: -1, "strict": 0, "compat": 1}
SOURCE = 4096  # any address that is not NULL; nothing reads through it
NAME_MAX, TAIL_MAX = 1024, 8192


def canonical(result):
    """A result object without what names the surface and the vector."""
    for key in ("name", "index"):
        result.pop(key, None)
    if result.get("requested"):
        result["requested"].pop("surface", None)
    return result


def source_of(vector, address=SOURCE):
    return 0 if vector.get("null_source") else address


def line_of(vector, now_ns):
    """The vector as vector_line.h has it."""
    request, layout = vector["request"], vector.get("layout", {})
    struct_size = layout.get("struct_size", KNOWN_SIZE)
    schema = layout.get("schema_version", 1)
    name = request.get("policy_name")
    words = [MODES[vector.get("mode")], now_ns, struct_size, layout.get("entry_schema_version", schema),
             of(vector, "opcode"), layout.get("reserved_opcode", 0), source_of(vector),
             offset_of(vector), length_of(vector), of(vector, "intent_type"),
             of(vector, "requested_priority"), deadline_ns(vector, now_ns), of(vector, "transport_hint"),
             layout.get("reserved0", 0), request.get("flags", 0), of(vector, "priority"), schema,
             layout.get("entry_stride", max(KNOWN_SIZE, struct_size)), layout.get("misalign", 0),
             "-" if name is None else "=" + name.encode().hex(), "=" + layout.get("tail", "")]
    return " ".join(map(str, words)) + "\n"


class Surface:
    """`config`: the path of a configuration, the tenant's name included; `environment`: that of one to plan against."""

    def __init__(self, config, environment):
        self.config, self.environment = config, environment

    def close(self):
        pass

    def expresses(self, vector, now_ns):
        return (vector.get("surface") != "legacy" and has_plain_memory(vector) and "layout" not in vector and
                deadline_ns(vector, now_ns) is not None)

    def explain(self, vectors, now_ns):
        """What each vector comes to; None for those that it does not express."""
        which = [vector for vector in vectors if self.expresses(vector, now_ns)]
        answers = iter(self.explain_all(which, now_ns) if which else [])
        return [next(answers) if self.expresses(vector, now_ns) else None for vector in vectors]


class Program(Surface):
    """One that reads lines and answers with lines."""

    def run(self, arguments, text):
        done = subprocess.run(arguments, input=text, capture_output=True, text=True, check=False, timeout=600)
        if done.returncode not in (0, 1):  # 1: a vector was rejected
            raise RuntimeError(f"{arguments}: {done.returncode}: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def explain_all(self, vectors, now_ns):
        lines = "".join(line_of(vector, now_ns) for vector in vectors)
        return [canonical(r) for r in self.run([self.program, self.config, "explain", self.environment], lines)]

    def submit(self, vectors):
        lines = "".join(line_of(vector, tent.monotonic_now_ns()) for vector in vectors)
        return self.run([self.program, self.config, "submit"], lines)


class C(Program):
    name = "C"

    def expresses(self, vector, now_ns):
        layout = vector.get("layout", {})
        plain = {key: value for key, value in vector.items() if key != "layout"}
        return (super().expresses(plain, now_ns) and "\0" not in (vector["request"].get("policy_name") or "") and
                len(layout.get("tail", "")) < 2 * TAIL_MAX)


class Cpp(Program):
    name = "C++"


class Deployed(Cpp):
    """The C++ API with the priority of deployed callers."""

    name = "C++ (deployed priority)"

    def expresses(self, vector, now_ns):
        return of_legacy(vector)

    def explain_all(self, vectors, now_ns):
        lines = "".join(line_of(vector, now_ns) for vector in vectors)
        return [canonical(r) for r in self.run([self.program, self.config, "deployed", self.environment], lines)]


def of_legacy(vector):
    """A legacy vector that the later surfaces take alike: they know no empty request and refuse unknown hints."""
    return (vector.get("surface") == "legacy" and has_plain_memory(vector) and length_of(vector) > 0 and
            0 <= of(vector, "transport_hint") <= 12)


class Explain(Program):
    name = "tent-explain"

    def expresses(self, vector, now_ns):
        return "null_source" not in vector

    def explain_all(self, vectors, now_ns):
        lines = "".join(json.dumps({"name": "v", **vector}) + "\n" for vector in vectors)
        arguments = [self.program, "-q", "--format", "ndjson", "--now", str(now_ns), "--config", self.config, "--env",
                     self.environment, "-"]
        results = self.run(arguments, lines)
        for vector, result in zip(vectors, results, strict=True):
            error = result["error"]
            # What concerns the array, C refuses as a call.
            if error and result["requested"]["schema_version"] is None and concerns_the_call(error["reason"]):
                result.clear()
                result["call"] = [error["category"], error["reason"], error["field"] or ""]
        return [canonical(result) for result in results]


def concerns_the_call(reason):
    return reason in ("schema_unknown", "stride_too_small", "stride_too_large", "misaligned")




class InProcess(Surface):
    def __init__(self, config, environment):
        super().__init__(config, environment)
        self.engine = tent.TransferEngine(config)
        self.engine.raise_creation_error()
        self.planned_for = Path(environment).read_text(encoding="utf-8")

    def close(self):
        self.engine.close()

    def explain_all(self, vectors, now_ns):
        return [canonical(self.explain_one(vector, now_ns)) for vector in vectors]


def mode_of(vector):
    return tent.ValidationMode(MODES[vector.get("mode")])


def member(kind, value):
    """A member of the enumeration and no raw number, or the other way around."""
    return (kind(value), None) if value in kind._value2member_map_ else (next(iter(kind)), value)


def values_of(vector):
    """The enumerations' members, and the raw numbers that take the place of those that there are not."""
    kinds = {"opcode": tent.OpCode, "intent_type": tent.IntentType, "requested_priority": tent.RequestedPriority,
             "transport_hint": tent.TransportType}
    pairs = {field: member(kind, of(vector, field)) for field, kind in kinds.items()}
    raw = {field: number for field, (_, number) in pairs.items() if number is not None}
    return {field: value for field, (value, _) in pairs.items()}, tent.RawIntent(**raw) if raw else None


class Pybind(InProcess):
    name = "pybind"

    def expresses(self, vector, now_ns):
        return super().expresses(vector, now_ns) or of_legacy(vector)

    def request(self, vector, deadline, segment=0, base=0, source=SOURCE):
        request = vector["request"]
        values, raw = values_of(vector)
        if vector.get("surface") == "legacy":
            values["priority"] = of(vector, "priority")
            del values["requested_priority"]
        return tent.Request(source=source_of(vector, source), target_id=segment, length=length_of(vector),
                            target_offset=(base + offset_of(vector)) % 2**64, deadline_ns=deadline,
                            policy_name=request.get("policy_name"), flags=request.get("flags", 0), raw_intent=raw,
                            **values)

    def explain_one(self, vector, now_ns):
        request = self.request(vector, deadline_ns(vector, now_ns))
        [result] = self.engine.explain_transfer([request], mode=mode_of(vector), now_ns=now_ns,
                                                environment=self.planned_for)
        return result


class HighLevel(InProcess):
    name = "tent.explain"

    def expresses(self, vector, now_ns):
        plain = {**vector, "request": {key: value for key, value in vector["request"].items() if "budget" not in key}}
        return super().expresses(plain, now_ns)

    def arguments(self, vector, segment=0, base=0, source=SOURCE):
        request = vector["request"]
        values, raw = values_of(vector)
        opcode = values.pop("opcode")
        budget = budget_ns(vector)
        ends = [tent.Remote(segment, (base + offset_of(vector)) % 2**64),
                tent.Local(source_of(vector, source), length_of(vector))]
        intent = tent.TransferIntent(deadline_ns=request.get("deadline_ns") or 0,
                                     policy_name=request.get("policy_name"),
                                     budget=None if budget is None else fractions.Fraction(budget, 10**9),
                                     flags=request.get("flags", 0), raw=raw, **values)
        return ends if opcode is tent.OpCode.READ else ends[::-1], {"engine": self.engine, "intent": intent,
                                                                    "mode": mode_of(vector)}

    def explain_one(self, vector, now_ns):
        ends, options = self.arguments(vector)
        return tent.explain(*ends, now_ns=now_ns, environment=self.planned_for, **options)


def outcome(call):
    """"ok", or what it was refused for."""
    try:
        call()
    except tent.TentException as error:
        return f"{error.category}/{error.reason}/{error.field or ''}"
    return "ok"


class Submitting:
    """pybind and the high level by submit, with a peer of this process's."""

    SIZE = 1 << 20

    def __init__(self, config):
        self.peer = tent.TransferEngine("{}")
        self.target = self.peer.allocate_local_memory(self.SIZE)
        self.low = Pybind(config, os.devnull)
        self.high = HighLevel(config, os.devnull)
        self.source = bytearray(self.SIZE)
        self.address = tent._tent.Buffer(self.source, True)

    def close(self):
        for engine in (self.low.engine, self.high.engine, self.peer):
            engine.close()

    def submit(self, vector):
        name = self.peer.get_segment_name()
        where = {"base": self.target, "source": self.address.address}
        engine = self.low.engine
        request = self.low.request(vector, deadline_ns(vector, tent.monotonic_now_ns()), engine.segment(name), **where)
        with engine.allocate_batch_guard(2) as batch:
            low = {"plain": outcome(lambda: engine.submit_transfer(batch, [request], mode=mode_of(vector))),
                   "notified": outcome(lambda: engine.submit_transfer(batch, [request], tent.Notification("n", "m"),
                                                                      mode=mode_of(vector)))}
            [low["explained"]] = engine.explain_transfer([request], mode=mode_of(vector))
        ends, options = self.high.arguments(vector, name, **where)
        high = {"plain": outcome(lambda: tent.transfer(*ends, **options).exception(60)),
                "notified": outcome(lambda: tent.transfer(*ends, notify=("n", "m"), **options).exception(60)),
                "explained": tent.explain(*ends, **options)}
        self.peer.recv_notifi()
        return low, high
