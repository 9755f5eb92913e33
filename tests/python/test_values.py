"""Values: the names and numbers of the C header, and nothing else in their place."""

import datetime
import enum
import fractions
import os
import re
import time
from pathlib import Path

import numpy
import pytest
import tent

HEADER = (Path(__file__).parents[2] / "lib/include/tent/transfer_engine.h").read_text()
LONG_NAMES = {"AscendDirect": "ASCEND_DIRECT", "LocalReadWrite": "LOCAL_READ_WRITE", "INITIAL": "WAITING",
              "GlobalReadOnly": "GLOBAL_READ_ONLY", "GlobalReadWrite": "GLOBAL_READ_WRITE", "Memory": "MEMORY",
              "File": "FILE"}
PREFIXES = {tent.OpCode: "OPCODE_", tent.IntentType: "TENT_INTENT_", tent.RequestedPriority: "TENT_PRIORITY_",
            tent.TransportType: "TRANSPORT_", tent.ValidationMode: "TENT_MODE_", tent.TransferStatusEnum: "STATUS_",
            tent.Permission: "PERM_", tent.SegmentInfoType: "TYPE_"}


@pytest.mark.parametrize("kind", PREFIXES)
def test_the_numbers_are_those_of_the_c_header(kind):
    prefix = PREFIXES[kind]
    defined = {name: int(number) for name, number in
               re.findall(rf"^#define {prefix}([A-Z0-9_]+) \(?(-?\d+)\)?", HEADER, re.MULTILINE)}
    given = {LONG_NAMES.get(name, name).replace("INTENT_", ""): member.value
             for name, member in kind.__members__.items()}
    assert given == defined


def test_the_deployed_names_are_there():
    request = tent.Request(tent.OpCode.WRITE, 4096, tent.LOCAL_SEGMENT_ID, 8192, 64)
    assert (request.priority, request.transport_hint) == (tent.PRIO_HIGH, tent.TransportType.UNSPEC)
    assert (request.policy_name, request.deadline_ns, request.intent_type) == (None, 0, tent.IntentType.INTENT_UNSPEC)
    assert request.requested_priority is None
    positional = tent.Request(tent.READ, 1, 2, 3, 4, tent.PRIO_LOW, tent.TCP, "bulk", 5, tent.MIGRATION)
    assert (positional.source, positional.target_id, positional.target_offset, positional.length) == (1, 2, 3, 4)
    assert (positional.priority, positional.policy_name, positional.deadline_ns) == (2, "bulk", 5)
    empty = tent.Request()
    empty.opcode, empty.source, empty.length = tent.WRITE, 4096, 1
    assert empty.opcode is tent.OpCode.WRITE
    for name in ("InvalidArgument", "AddressNotRegistered", "DeviceNotFound", "InvalidEntry", "Rdma", "Cuda",
                 "Metadata", "RpcService", "Internal", "NotImplemented"):
        assert issubclass(getattr(tent, name + "Error"), tent.TentException)
    assert tent.COMPLETED is tent.TransferStatusEnum.COMPLETED
    assert int(tent.TransportType.TCP) == 7


class Other(enum.IntEnum):
    READ = 0


def request_with(**fields):
    arguments = {"opcode": tent.OpCode.READ, "source": 4096, "target_id": 0, "target_offset": 0, "length": 1}
    return tent.Request(**{**arguments, **fields})


ENUMS = {"opcode": tent.OpCode, "transport_hint": tent.TransportType, "intent_type": tent.IntentType,
         "requested_priority": tent.RequestedPriority}


@pytest.mark.parametrize("field", ENUMS)
@pytest.mark.parametrize("wrong", [0, 1, 99, True, 1.0, "read", Other.READ, tent.ValidationMode.STRICT, numpy.int32(1)])
def test_an_enumeration_takes_its_own_members_alone(field, wrong):
    with pytest.raises(TypeError, match=f"expected a tent.{ENUMS[field].__name__}, not .*{type(wrong).__name__}"):
        request_with(**{field: wrong})
    request = request_with()
    with pytest.raises(TypeError):
        setattr(request, field, wrong)
    if field != "opcode":
        with pytest.raises(TypeError, match=field):
            tent.TransferIntent(**{field: wrong})


@pytest.mark.parametrize("field", ["source", "target_id", "target_offset", "length", "deadline_ns", "priority",
                                   "flags"])
@pytest.mark.parametrize("wrong", [True, 1.0, "1", None, tent.OpCode.WRITE, Other.READ, numpy.float64(1)])
def test_a_number_is_an_int(field, wrong):
    with pytest.raises(TypeError):
        request_with(**{field: wrong})


def test_a_number_that_does_not_fit_is_not_cut():
    for field, wrong in [("length", -1), ("deadline_ns", 2**64), ("priority", 2**31), ("flags", -1)]:
        with pytest.raises(OverflowError, match="is not from"):
            request_with(**{field: wrong})
    assert request_with(length=2**64 - 1, priority=-2**31).length == 2**64 - 1
    assert request_with(length=numpy.uint64(7)).length == 7


@pytest.mark.parametrize("wrong", [b"bulk", 1, ["bulk"], Path("bulk")])
def test_a_policy_name_is_a_str(wrong):
    with pytest.raises(TypeError):
        request_with(policy_name=wrong)
    with pytest.raises(TypeError, match="policy_name"):
        tent.TransferIntent(policy_name=wrong)


def test_no_number_becomes_a_member_and_no_member_a_number():
    for kind, wrong in [(tent.IntentType, 99), (tent.IntentType, True), (tent.OpCode, 2), (tent.TransportType, -1)]:
        if wrong is not True:
            with pytest.raises(ValueError):
                kind(wrong)
    assert tent.OpCode.READ != 0
    assert tent.OpCode.READ != tent.IntentType.INTENT_UNSPEC


def test_a_raw_intent_carries_what_no_enumeration_has():
    raw = tent.RawIntent(opcode=7, intent_type=99, requested_priority=-1, transport_hint=13)
    request = request_with(raw_intent=raw)
    assert (request.opcode, request.intent_type, request.requested_priority, request.transport_hint) == (7, 99, -1, 13)
    with pytest.raises(OverflowError):
        tent.RawIntent(intent_type=2**31)
    for wrong in (1.0, True, tent.IntentType.MIGRATION):
        with pytest.raises(TypeError):
            tent.RawIntent(intent_type=wrong)


def test_budgets_are_seconds_or_timedeltas():
    for budget in (0.25, fractions.Fraction(1, 4), datetime.timedelta(milliseconds=250), numpy.float64(0.25)):
        before = time.monotonic_ns()
        deadline_ns = tent.deadline_after(budget)
        assert before + 250_000_000 <= deadline_ns <= time.monotonic_ns() + 250_000_000
    assert tent.monotonic_now_ns() >= before
    assert tent.deadline_after_ns(5) > before
    for wrong in (True, "1s", None, tent.IntentType.MIGRATION):
        with pytest.raises(TypeError, match="budget"):
            tent.deadline_after(wrong)
    for wrong in (float("nan"), float("inf"), -1):
        with pytest.raises(ValueError, match="budget"):
            tent.deadline_after(wrong)
    for budget_ns, reason in [(2**64 - 1, "deadline_overflow"), (31 * 86400 * 10**9, "deadline_out_of_range")]:
        with pytest.raises(tent.InvalidArgumentError) as refused:
            tent.deadline_after_ns(budget_ns)
        assert (refused.value.category, refused.value.reason) == ("deadline_error", reason)


def test_an_intent_is_a_value():
    intent = tent.TransferIntent(intent_type=tent.IntentType.MIGRATION, budget=1.5)
    assert intent == tent.TransferIntent(intent_type=tent.IntentType.MIGRATION, budget=1.5)
    started = intent.started()
    assert started.budget is None and started.deadline_ns > tent.monotonic_now_ns()
    assert started.started() is started
    assert intent.replace(budget=None) == tent.TransferIntent(intent_type=tent.IntentType.MIGRATION)
    with pytest.raises(TypeError, match="one deadline"):
        tent.TransferIntent(budget=1, deadline_ns=5)
    with pytest.raises(TypeError, match="requested_priority"):
        tent.TransferIntent(requested_priority=None)


def test_ends_are_checked_where_they_are_made():
    for wrong in (1.5, "0", True, tent.OpCode.READ):
        with pytest.raises(TypeError):
            tent.Remote("node", wrong)
        with pytest.raises(TypeError):
            tent.Local(wrong, 1)
    with pytest.raises(OverflowError):
        tent.Local(0, 2**64)
    assert tent.Remote("node", 4096, 100)[10:30] == tent.Remote("node", 4106, 20)
    assert tent.Local(4096, 100)[90:200] == tent.Local(4186, 10)
    with pytest.raises(TypeError, match="step"):
        tent.Local(4096, 100)[::2]


def test_everything_public_is_documented():
    for name in tent.__all__:
        value = getattr(tent, name)
        if callable(value) and name != "Budget":
            assert value.__doc__, name
    assert os.path.exists(Path(tent.__file__).parent / "py.typed")
