"""What a transfer is for, how urgent it is and until when it is wanted: as a value that can be used again."""

import dataclasses
import datetime
import fractions
import numbers
from typing import Any, Optional, Union

from . import _tent
from ._errors import TentException, error_of
from ._values import IntentType, RequestedPriority, TransportType

Budget = Union[float, datetime.timedelta, numbers.Rational]

_UINT64_MAX = 2**64 - 1
_HORIZON_NS = 30 * 24 * 3600 * 10**9  # of deadlines
_FIELDS = ("intent_type", "requested_priority", "deadline_ns", "policy_name", "transport_hint", "flags")


def budget_ns_of(budget: Budget) -> int:
    """A budget, in seconds or as a timedelta, in nanoseconds."""
    if isinstance(budget, datetime.timedelta):
        return (budget.days * 86400 + budget.seconds) * 10**9 + budget.microseconds * 1000
    if isinstance(budget, bool) or not isinstance(budget, (int, float, numbers.Rational)):
        raise TypeError(f"budget: expected seconds or a datetime.timedelta, not {type(budget).__name__}")
    try:
        return round(fractions.Fraction(budget) * 10**9)
    except (ValueError, OverflowError):
        raise ValueError(f"budget: {budget} is not a time; leave it out for no deadline") from None


def deadline_after(budget: Budget) -> int:
    """Now plus a budget, in seconds or as a timedelta, as a deadline_ns.

    For the process that submits: a deadline is a time of this host's monotonic clock and means nothing on another.
    """
    budget_ns = budget_ns_of(budget)
    if budget_ns < 0:
        raise ValueError("budget: it is negative: what has passed is no deadline; leave it out for none")
    return _tent.deadline_after_ns(min(budget_ns, _UINT64_MAX))


@dataclasses.dataclass(frozen=True)
class Deadline:
    """A budget turned into a time, with what is to be said when the library refuses that time.

    Whether it is refused, and after which other checks, the library decides; but it sees only the time, and its error
    is to name what the caller gave.
    """

    ns: int
    refusal: Optional[tuple[str, int, str]] = None
    """The reason, the value and the message; None: the library's own."""

    @staticmethod
    def of(budget_ns: int, now_ns: int) -> "Deadline":
        if budget_ns > _UINT64_MAX - now_ns:
            message = f"now plus a budget of {budget_ns} ns exceeds 64 bits"
            return Deadline(_UINT64_MAX, ("deadline_overflow", budget_ns, message))
        if budget_ns < 0 or budget_ns > _HORIZON_NS:
            message = ("a budget is not negative: what has passed is no deadline" if budget_ns < 0 else
                       f"the deadline {budget_ns} ns is more than 30 days away; was a wall-clock time passed? "
                       "Deadlines are CLOCK_MONOTONIC times of this host: the value is the budget that was given")
            return Deadline(_UINT64_MAX, ("deadline_out_of_range", budget_ns, message))
        return Deadline(now_ns + budget_ns)

    def error(self, error: TentException) -> TentException:
        """The library's error, naming what the caller gave."""
        if self.refusal is None or error.reason != "deadline_out_of_range":
            return error
        reason, _, message = self.refusal
        return error_of("submit_transfer", error.category, error.code, reason, error.field or "", error.index,
                        error.failing, message)

    def result(self, result: dict[str, Any]) -> dict[str, Any]:
        """The same for a result object."""
        error = result["error"]
        if self.refusal is not None and error is not None and error["reason"] == "deadline_out_of_range":
            error["reason"], error["value"], error["message"] = self.refusal
        return result


@dataclasses.dataclass(frozen=True)
class TransferIntent:
    """What transfers are for; give it to `transfer` or `explain` as `intent`, as often as wanted.

    With `budget` each transfer gets that much time from its own submit. To share one deadline, among retries or among
    the parts of one operation, turn the budget into a deadline once, in the process that submits: `started()`.
    """

    intent_type: IntentType = IntentType.INTENT_UNSPEC
    requested_priority: RequestedPriority = RequestedPriority.UNSPEC
    deadline_ns: int = 0
    """A time of `monotonic_now_ns()`, which is `time.monotonic_ns()`; 0: none."""
    budget: Optional[Budget] = None
    """Seconds, or a timedelta, from the submit."""
    policy_name: Optional[str] = None
    transport_hint: TransportType = TransportType.UNSPEC
    flags: int = 0
    """None is defined."""
    raw: Optional[_tent.RawIntent] = None
    """For tests of the validation: numbers in place of the members above."""

    def __post_init__(self) -> None:
        if self.budget is not None:
            if self.deadline_ns != 0:
                raise TypeError("a transfer has one deadline: give deadline_ns or budget, not both")
            budget_ns_of(self.budget)  # a wrong type is told where it was given
        if self.requested_priority is None:
            raise TypeError("requested_priority: expected a tent.RequestedPriority, not None: UNSPEC is the default")
        self.request(_tent.Request(), 0)  # and so are those of the other fields

    def started(self) -> "TransferIntent":
        """The same with the budget turned into a deadline now."""
        if self.budget is None:
            return self
        return self.replace(deadline_ns=deadline_after(self.budget), budget=None)

    def replace(self, **changes: Any) -> "TransferIntent":
        """The same with some fields changed."""
        return dataclasses.replace(self, **changes)

    def deadline(self, now_ns: int) -> Deadline:
        if self.budget is None:
            return Deadline(self.deadline_ns)
        return Deadline.of(budget_ns_of(self.budget), now_ns)

    def request(self, request: _tent.Request, deadline_ns: int) -> _tent.Request:
        """Writes these fields into a request."""
        for name in _FIELDS:
            try:
                setattr(request, name, getattr(self, name))
            except (TypeError, OverflowError, UnicodeError) as error:
                raise (OverflowError if isinstance(error, OverflowError) else TypeError)(f"{name}: {error}") from None
        if deadline_ns != 0:
            request.deadline_ns = deadline_ns
        if self.raw is not None:
            self.raw.apply_to(request)
        return request
