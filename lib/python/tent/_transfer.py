"""One call that moves bytes, and the handle of what it began."""

import asyncio
import os
import threading
from typing import Any, Generator, Optional, Union

from . import _in_flight, _tent
from ._endpoints import Ends, ends_of
from ._engine import TransferEngine, default_engine
from ._errors import TentException, error_of
from ._intent import Budget, Deadline, TransferIntent
from ._values import IntentType, RequestedPriority, TransferStatusEnum, TransportType, ValidationMode

Notify = Union[None, _tent.Notification, "tuple[str, str]"]


class Transfer:
    """A transfer that was begun. Any thread may use it; a coroutine awaits it: `moved = await tent.transfer(...)`.

    The memory at this end is kept alive until the transfer has ended, also when the handle is dropped.
    """

    def __init__(self, engine: TransferEngine, ends: Ends, batch_id: int, intent: TransferIntent) -> None:
        self.intent = intent
        """What it was submitted with; a budget has become a deadline, so that a retry keeps it."""
        self._engine = engine
        self._ends = ends
        self._batch_id = batch_id
        self._lock = threading.Lock()
        self._ended = False
        self._error: Optional[BaseException] = None
        self._moved = 0

    @property
    def engine(self) -> TransferEngine:
        """The engine that carries it."""
        return self._engine

    def done(self) -> bool:
        """Whether it has ended, in whatever way. Does not wait."""
        return self.wait(0)

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits until it has ended, or `timeout` seconds have passed; whether it has ended."""
        timeout_ns = None if timeout is None else max(0, min(round(timeout * 1e9), 2**63))
        while not self._ended:
            try:
                if not self._engine.wait_batch(self._batch_id, timeout_ns):
                    return False
            except TentException:
                pass  # another thread has ended it and freed its batch, or the engine was closed
            self._end()
        return True

    def cancel(self) -> bool:
        """Asks that it does not begin, where it has not; it ends in any case. Whether it was in flight when asked."""
        if self.done():
            return False
        with self._lock:
            if self._ended:
                return False
            self._engine.cancel_transfer(self._batch_id, 0)
        return True

    def result(self, timeout: Optional[float] = None) -> int:
        """Waits for the end and gives the number of bytes moved. Raises why it did not succeed; TimeoutError."""
        error = self.exception(timeout)
        if error is not None:
            raise error
        return self._moved

    def exception(self, timeout: Optional[float] = None) -> Optional[BaseException]:
        """Waits for the end and gives why it did not succeed; None where it did."""
        if not self.wait(timeout):
            raise TimeoutError(f"the transfer is still in flight after {timeout} s")
        return self._error

    def __await__(self) -> Generator[Any, None, int]:
        loop = asyncio.get_running_loop()
        while not self.done():
            fd = self._descriptor()
            if fd is None:
                break
            ended: "asyncio.Future[None]" = loop.create_future()
            loop.add_reader(fd, _set, ended)
            try:
                yield from ended
            finally:
                loop.remove_reader(fd)
                os.close(fd)
        return self.result()

    def _descriptor(self) -> Optional[int]:
        """One of the caller's own, readable once it has ended: the batch's goes with the batch. None: it has ended."""
        with self._lock:
            return None if self._ended else os.dup(self._engine.get_batch_fd(self._batch_id))

    def _end(self) -> None:
        """Takes what came of it, and gives back what it held. The batch has nothing in flight."""
        with self._lock:
            if self._ended:
                return
            try:
                self._take_outcome()
            except TentException:
                if self._engine.available():
                    raise
                self._error = error_of("transfer", "runtime_error", -1, "canceled", "", 0, 1,
                                       "the engine was closed before it was known what came of the transfer")
            self._ends.release()
            self._ended = True
        _in_flight.drop(self)
        try:
            self._engine.free_transfer_batch(self._batch_id)
        except TentException:
            if self._engine.available():
                raise

    def _take_outcome(self) -> None:
        try:
            self._engine.raise_task_error(self._batch_id, 0)
        except TentException as error:
            self._error = error
        status = self._engine.get_transfer_status_overall(self._batch_id)
        self._moved = status.bytes
        if self._error is None and status.state is not TransferStatusEnum.COMPLETED:
            self._error = error_of("transfer", "runtime_error", -1, "peer_lost", "notification", 0, 1,
                                   "the bytes are at their destination, but it did not take the notification")


def _set(ended: "asyncio.Future[None]") -> None:
    if not ended.done():
        ended.set_result(None)


def _intent_of(intent: Optional[TransferIntent], fields: dict[str, Any]) -> TransferIntent:
    given = {name: value for name, value in fields.items() if value is not None}
    if intent is None:
        return TransferIntent(**given)
    if not isinstance(intent, TransferIntent):
        raise TypeError(f"intent: expected a tent.TransferIntent, not {type(intent).__name__}")
    if given:
        raise TypeError(f"give an intent, or {' and '.join(given)}, not both: intent.replace(...) changes fields")
    return intent


def _notification_of(notify: Notify) -> Optional[_tent.Notification]:
    if notify is None or isinstance(notify, _tent.Notification):
        return notify
    if not isinstance(notify, tuple) or len(notify) != 2:
        raise TypeError(f"notify: expected a tent.Notification or (name, message), not {type(notify).__name__}")
    return _tent.Notification(*notify)


def _request_of(engine: TransferEngine, ends: Ends, intent: TransferIntent, deadline: Deadline) -> _tent.Request:
    segment = ends.remote.segment
    handle = engine.segment(segment) if isinstance(segment, str) else segment
    request = _tent.Request(ends.opcode, ends.address, handle, ends.remote.offset, ends.length)
    return intent.request(request, deadline.ns)


def transfer(src: Any, dst: Any, *, engine: Optional[TransferEngine] = None, intent: Optional[TransferIntent] = None,
             intent_type: Optional[IntentType] = None, requested_priority: Optional[RequestedPriority] = None,
             deadline_ns: Optional[int] = None, budget: Optional[Budget] = None, policy_name: Optional[str] = None,
             transport_hint: Optional[TransportType] = None, notify: Notify = None,
             mode: ValidationMode = ValidationMode.CONFIGURED) -> Transfer:
    """Begins to move all bytes of `src` to `dst`, and gives the handle of that.

    One end is a `Remote`; the other an object with the buffer protocol (bytes, bytearray, memoryview, a numpy array) or
    a `Local`. The number of bytes is that of this process's end.

    intent              what it is for, as a value; or the fields of one:
    intent_type         what it is for
    requested_priority  a wish; unset, the contract decides
    deadline_ns         a time of `monotonic_now_ns()`
    budget              instead: seconds or a timedelta from now
    policy_name         a transport policy of the configuration's
    transport_hint      the first transport to try, within what is authorized
    notify              a `Notification`, or its name and message: the peer receives it once the bytes are there
    mode                how unknown values are validated
    engine              default: `default_engine()`

    Raises what the library refuses (TentException, with category, reason and field); then nothing was begun. Blocks
    while a segment is connected to by its name the first time (`TransferEngine.segment`), and not for the transfer.
    """
    engine = engine or default_engine()
    intent = _intent_of(intent, {"intent_type": intent_type, "requested_priority": requested_priority,
                                 "deadline_ns": deadline_ns, "budget": budget, "policy_name": policy_name,
                                 "transport_hint": transport_hint})
    notification = _notification_of(notify)
    ends = ends_of(src, dst)
    batch_id = 0
    try:
        deadline = intent.deadline(_tent.monotonic_now_ns())
        request = _request_of(engine, ends, intent, deadline)
        batch_id = engine.allocate_transfer_batch(1)
        begun = Transfer(engine, ends, batch_id, intent.replace(deadline_ns=deadline.ns, budget=None))
        engine.submit_transfer(batch_id, [request], notification, mode=mode)
    except TentException as error:
        if batch_id != 0:
            engine.free_transfer_batch(batch_id)
        ends.release()
        raise deadline.error(error) from None
    except BaseException:
        # A wrong type, or an interrupt from the keyboard: the latter may have come when it was in flight already.
        if batch_id == 0 or not engine.get_transfer_status_list(batch_id):
            ends.release()
            if batch_id != 0:
                engine.free_transfer_batch(batch_id)
        else:
            _in_flight.keep(begun)
        raise
    _in_flight.keep(begun)
    _in_flight.reap()
    return begun


async def transfer_async(src: Any, dst: Any, **arguments: Any) -> int:
    """`await transfer(...)` whose beginning, which may connect to a peer, does not block the loop either."""
    return await (await asyncio.to_thread(transfer, src, dst, **arguments))


def explain(src: Any, dst: Any, *, engine: Optional[TransferEngine] = None, intent: Optional[TransferIntent] = None,
            intent_type: Optional[IntentType] = None, requested_priority: Optional[RequestedPriority] = None,
            deadline_ns: Optional[int] = None, budget: Optional[Budget] = None, policy_name: Optional[str] = None,
            transport_hint: Optional[TransportType] = None, notify: Notify = None,
            mode: ValidationMode = ValidationMode.CONFIGURED, now_ns: Optional[int] = None,
            environment: Union[None, str, "dict[str, Any]"] = None) -> dict[str, Any]:
    """What `transfer` would decide for the same arguments, as a result object; begins nothing.

    now_ns       the time to decide at; default: now
    environment  what to plan against, instead of this machine and the target as they are
    """
    engine = engine or default_engine()
    intent = _intent_of(intent, {"intent_type": intent_type, "requested_priority": requested_priority,
                                 "deadline_ns": deadline_ns, "budget": budget, "policy_name": policy_name,
                                 "transport_hint": transport_hint})
    _notification_of(notify)
    ends = ends_of(src, dst)
    try:
        now_ns = _tent.monotonic_now_ns() if now_ns is None else now_ns
        deadline = intent.deadline(now_ns)
        request = _request_of(engine, ends, intent, deadline)
        [result] = engine.explain_transfer([request], mode=mode, now_ns=now_ns, environment=environment)
    finally:
        ends.release()
    return deadline.result(result)


_TRACED = {
    "requested": ("intent_type", "requested_priority", "policy_name"),
    "effective": ("intent_type", "priority", "matched_policy", "transport_policy"),
}


def trace_attributes(result: dict[str, Any]) -> dict[str, str]:
    """What of a result object belongs into a trace: a fixed number of keys, each with a short name as its value.

    Not for labels of metrics: names of policies and tenants are chosen by those who configure.
    """
    attributes = {"tent.status": str(result["status"])}
    for side, names in _TRACED.items():
        for name in names:
            attributes[f"tent.{side}.{name}"] = str((result[side] or {}).get(name) or "")[:128]
    return attributes
