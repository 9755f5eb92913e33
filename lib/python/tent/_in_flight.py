"""What is in flight, whether or not anybody still has its handle: an engine reads and writes its memory.

Transfers whose handles were dropped are found to have ended by later transfers, and by the end of their engine.
"""

import atexit
import collections
import os
import threading
from typing import Any, Protocol

from . import _tent

_REAPED_AT_ONCE = 4


class InFlight(Protocol):
    """A transfer, to this module."""

    @property
    def engine(self) -> _tent.TransferEngine: ...
    def done(self) -> bool:
        """Whether it has ended; then it has called `drop`."""


_lock = threading.Lock()
_kept: "collections.OrderedDict[int, InFlight]" = collections.OrderedDict()


def keep(transfer: InFlight) -> None:
    """Keeps a transfer that was submitted alive."""
    with _lock:
        _kept[id(transfer)] = transfer


def drop(transfer: InFlight) -> None:
    """Lets go of a transfer that has ended."""
    with _lock:
        _kept.pop(id(transfer), None)


def reap() -> None:
    """Looks at some, the next ones each time."""
    for _ in range(_REAPED_AT_ONCE):
        with _lock:
            if not _kept:
                return
            key, transfer = next(iter(_kept.items()))
            _kept.move_to_end(key)
        transfer.done()


def reap_of(engine: Any) -> None:
    """Looks at all of an engine's, which has ended them."""
    with _lock:
        ended = [transfer for transfer in _kept.values() if transfer.engine is engine]
    for transfer in ended:
        transfer.done()


def count() -> int:
    """How many are kept."""
    return len(_kept)


@atexit.register
def _end_all() -> None:
    with _lock:
        engines = {id(transfer.engine): transfer.engine for transfer in _kept.values()}
    for engine in engines.values():
        _tent.TransferEngine.close(engine)


def _forget_all() -> None:
    global _lock
    _lock = threading.Lock()  # another thread of the parent's may have held it
    _kept.clear()


os.register_at_fork(after_in_child=_forget_all)  # they are the parent's
