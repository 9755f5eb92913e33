"""TransferEngine, and the guards that give back what it gave."""

import ctypes
import json
import os
import threading
import weakref
from types import TracebackType
from typing import Any, Optional, Union

from . import _in_flight, _tent
from ._endpoints import Local, Remote
from ._errors import TentException
from ._values import Permission, ValidationMode

Config = Union[str, "os.PathLike[str]", "dict[str, Any]"]


class TransferEngine(_tent.TransferEngine):
    """Moves bytes between this process and others, by what its callers say the transfers mean.

    `config_path`: the path of a configuration, a JSON text, or the configuration as a dict; without one the defaults.
    As deployed, an engine that does not come to life is not an exception here: `available()` is false, and every later
    call, entering `with` among them, raises why.

    Members may be called from any thread, and release the interpreter's lock while they wait. After `os.fork` the child
    makes an engine of its own.
    """

    def __init__(self, config_path: Optional[Config] = None) -> None:
        if config_path is None:
            super().__init__()
        elif isinstance(config_path, dict):
            super().__init__(json.dumps(config_path))
        else:
            super().__init__(os.fspath(config_path))
        self._lock = threading.Lock()
        self._segments: dict[str, int] = {}
        self._memories: "weakref.WeakSet[MemoryGuard]" = weakref.WeakSet()

    def __enter__(self) -> "TransferEngine":
        self.raise_creation_error()
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Ends what is in flight and gives everything back. May be called again, and while other threads wait.

        BufferError, and nothing is closed, while parts or arrays of views of its memory exist.
        """
        for memory in list(self._memories):
            memory.release_views()
        super().close()
        _in_flight.reap_of(self)

    def segment(self, name: str) -> int:
        """The handle of a segment, which is opened on first use and stays open as long as the engine lives.

        Blocks for seconds at most where it has to connect: in a coroutine, call it in a thread beforehand.
        """
        handle = self._segments.get(name)
        if handle is None:
            opened = self.open_segment(name)
            with self._lock:
                others = self._segments.get(name)
                handle = self._segments.setdefault(name, opened)
            if others is not None:  # another thread was faster, and opened it too
                self.close_segment(opened)
        return handle

    def forget_segment(self, name: str) -> None:
        """Closes what `segment` opened, so that the next use connects again: to a peer that was restarted."""
        with self._lock:
            handle = self._segments.pop(name, None)
        if handle is not None:
            self.close_segment(handle)

    def remote_buffers(self, segment: str) -> list[Remote]:
        """The memory that a segment lets its peers reach."""
        info = self.get_segment_info(self.segment(segment))
        return [Remote(segment, buffer.base, buffer.length) for buffer in info.buffers]

    def explain_transfer(self, request_list: list[_tent.Request], *, mode: ValidationMode = ValidationMode.CONFIGURED,
                         now_ns: int = 0,
                         environment: Union[None, str, "dict[str, Any]"] = None) -> list[dict[str, Any]]:
        """What `submit_transfer` would decide, as a result object a request; submits nothing.

        `now_ns`: the time to decide at; 0: now. `environment`: what to plan against, instead of this machine and the
        target as they are.
        """
        if isinstance(environment, dict):
            environment = json.dumps(environment)
        text = self.explain_json(request_list, mode=mode, now_ns=now_ns, environment=environment)
        results: list[dict[str, Any]] = json.loads(text)
        return results

    def allocate_memory_guard(self, size: int, location: str = "*") -> "MemoryGuard":
        """Memory that peers on this machine can map, freed at the end of `with`."""
        return MemoryGuard(self, self.allocate_local_memory(size, location), size)

    def allocate_memory_guard_ex(self, size: int, options: _tent.MemoryOptions) -> "MemoryGuard":
        """The same, with options."""
        return MemoryGuard(self, self.allocate_local_memory_ex(size, options), size)

    def allocate_batch_guard(self, batch_size: int) -> "BatchGuard":
        """A batch, freed at the end of `with`, once its transfers have ended."""
        return BatchGuard(self, self.allocate_transfer_batch(batch_size))

    def register(self, buffer: Any, permission: Permission = Permission.GlobalReadWrite) -> "RegistrationGuard":
        """Lets peers reach an object with the buffer protocol until the end of `with`, and keeps it alive."""
        return RegistrationGuard(self, buffer, permission)


class _Guard:
    """What is given back once: at the end of `with`, by release(), or with the object."""

    def __init__(self, engine: TransferEngine) -> None:
        self._engine = engine
        self._held = True

    def _give_back(self) -> None:
        raise AssertionError

    def release(self) -> None:
        """Gives it back. May be called again, and after the engine was closed, which took it back already."""
        if not self._held:
            return
        if self._engine.available():
            self._give_back()
        self._held = False

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.release()

    def __del__(self) -> None:
        try:
            if getattr(self, "_held", False):
                self.release()
        except TentException:
            pass  # there is nobody to tell; the engine frees it in its own end


class MemoryGuard(_Guard):
    """Memory of an engine's. In `with` it stands for its address."""

    def __init__(self, engine: TransferEngine, address: int, size: int) -> None:
        super().__init__(engine)
        self._address = address
        self._size = size
        # Each view, and the array behind it, which lives as long as any part of the view.
        self._views: list[tuple[weakref.ref[Any], weakref.ref[Any]]] = []
        engine._memories.add(self)

    def address(self) -> int:
        return self._address

    def size(self) -> int:
        return self._size

    def local(self) -> Local:
        """It as an end of a transfer."""
        return Local(self._address, self._size, self)

    def view(self) -> memoryview:
        """Its bytes, to read and write. Giving the memory back releases the view; while parts or arrays of it exist,
        that is a BufferError and the memory stays."""
        if not self._held or not self._engine.available():
            raise ValueError("the memory was freed")
        array = (ctypes.c_char * self._size).from_address(self._address)
        array.guard = self  # type: ignore[attr-defined]  # who has the view keeps the memory
        view = memoryview(array).cast("B")
        self._views = [pair for pair in self._views if pair[1]() is not None]
        self._views.append((weakref.ref(view), weakref.ref(array)))
        return view

    def release_views(self) -> None:
        """Releases what `view` gave. BufferError while parts or arrays of it exist."""
        for view, _ in self._views:
            alive = view()
            if alive is not None:
                alive.release()  # BufferError while an array stands on it
        if any(array() is not None for _, array in self._views):
            raise BufferError("the memory cannot be freed while parts or arrays of its view exist: delete them first")

    def _give_back(self) -> None:
        self.release_views()
        self._engine.free_local_memory(self._address)

    def __enter__(self) -> int:
        return self._address


class BatchGuard(_Guard):
    """A batch of an engine's. In `with` it stands for its number."""

    def __init__(self, engine: TransferEngine, batch_id: int) -> None:
        super().__init__(engine)
        self._batch_id = batch_id

    def id(self) -> int:
        return self._batch_id

    def _give_back(self) -> None:
        self._engine.wait_batch(self._batch_id)
        self._engine.free_transfer_batch(self._batch_id)

    def __enter__(self) -> int:
        return self._batch_id


class RegistrationGuard(_Guard):
    """A buffer that peers can reach."""

    def __init__(self, engine: TransferEngine, buffer: Any, permission: Permission) -> None:
        self._held = False
        self._buffer = _tent.Buffer(buffer, writable=permission is Permission.GlobalReadWrite)
        engine.register_local_memory(self._buffer.address, self._buffer.length, permission)
        super().__init__(engine)

    def local(self) -> Local:
        """It as an end of a transfer."""
        return Local(self._buffer.address, self._buffer.length, self)

    def release(self) -> None:
        super().release()
        self._buffer.release()

    def _give_back(self) -> None:
        self._engine.unregister_local_memory(self._buffer.address, self._buffer.length)

    def __enter__(self) -> "RegistrationGuard":
        return self


_default_lock = threading.Lock()
_default: Optional[TransferEngine] = None
_default_process = 0


def default_engine() -> TransferEngine:
    """The engine that transfers use where none is named: made on first use, one a process."""
    global _default, _default_process
    with _default_lock:
        if _default is None or _default_process != os.getpid():
            engine = TransferEngine()
            engine.raise_creation_error()
            _default, _default_process = engine, os.getpid()
        return _default


def set_default_engine(engine: Optional[TransferEngine]) -> None:
    """Uses `engine` where none is named; None: one with the default configuration, made on the next use."""
    global _default, _default_process
    with _default_lock:
        _default, _default_process = engine, os.getpid()
