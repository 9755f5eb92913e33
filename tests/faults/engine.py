"""Engines of libtent.so in this process, through its C API. Takes LIBRARY off the front of the command line; a program
that imports this may be run again by it, so as to load a sanitized library.
"""

import ctypes
import json
import sys
from pathlib import Path

import process
from memory import Memory, map_at

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from c_structs import Request, Result  # noqa: E402

LIBRARY = Path(sys.argv.pop(1)).resolve()
READ, WRITE = 0, 1
STATUSES = ["waiting", "pending", "invalid", "canceled", "completed", "timeout", "failed"]
TERMINAL = {"invalid", "canceled", "completed", "timeout", "failed"}
FOREVER = (1 << 64) - 1


class Status(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("transferred_bytes", ctypes.c_uint64)]


class BufferInfo(ctypes.Structure):
    _fields_ = [("base", ctypes.c_uint64), ("length", ctypes.c_uint64), ("location", ctypes.c_char * 64)]


class SegmentInfo(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("num_buffers", ctypes.c_int), ("buffers", ctypes.POINTER(BufferInfo))]


def load():
    library = ctypes.CDLL(str(LIBRARY))
    engine, size, u64 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64
    library.tent_create_engine.restype = engine
    library.tent_allocate_batch.restype = u64
    for name, arguments in {
            "destroy_engine": [engine], "segment_name": [engine, ctypes.c_char_p, size],
            "open_segment": [engine, ctypes.POINTER(u64), ctypes.c_char_p], "close_segment": [engine, u64],
            "get_segment_info": [engine, u64, ctypes.POINTER(SegmentInfo)],
            "free_segment_info": [ctypes.POINTER(SegmentInfo)],
            "allocate_memory": [engine, ctypes.POINTER(ctypes.c_void_p), size, ctypes.c_char_p],
            "free_memory": [engine, ctypes.c_void_p], "register_memory": [engine, ctypes.c_void_p, size],
            "unregister_memory": [engine, ctypes.c_void_p, size], "allocate_batch": [engine, size],
            "free_batch": [engine, u64], "task_status": [engine, u64, size, ctypes.POINTER(Status)],
            "batch_fd": [engine, u64, ctypes.POINTER(ctypes.c_int)], "cancel_task": [engine, u64, size],
            "wait_batch": [engine, u64, u64], "load_config_from_file": [ctypes.c_char_p],
            "task_error": [engine, u64, size, ctypes.POINTER(Result)],
            "submit_requests": [engine, u64, ctypes.c_void_p, size, size, ctypes.c_uint32],
            "deadline_after_ns": [u64, ctypes.POINTER(u64)], "last_error": [ctypes.POINTER(Result)]}.items():
        getattr(library, f"tent_{name}").argtypes = arguments
    return library


SANITIZED = process.preload_runtimes(LIBRARY)
TENT = load()


class TentError(Exception):
    def __init__(self, result):
        self.reason, self.message = result.reason_name.decode(), result.message.decode(errors="replace")
        super().__init__(f"{result.category_name.decode()}/{self.reason}: {self.message}")


def last_error():
    result = Result(struct_size=ctypes.sizeof(Result))
    TENT.tent_last_error(ctypes.byref(result))
    return TentError(result)


def call(name, *arguments):
    if getattr(TENT, f"tent_{name}")(*arguments) != 0:
        raise last_error()


class Engine:
    """Keys of the configuration with "/" written as "__"; beside them a loopback address and any free ports."""

    def __init__(self, **keys):
        keys = {"rpc_server_hostname": "127.0.0.1", "rpc_server_port": 0, "transports__tcp__port": 0, **keys}
        for key, value in keys.items():
            text = value if isinstance(value, str) else json.dumps(value)
            TENT.tent_set_config(key.replace("__", "/").encode(), text.encode())
        self.handle = TENT.tent_create_engine()
        if not self.handle:
            raise last_error()
        self.memories = {}
        name = ctypes.create_string_buffer(256)
        call("segment_name", self.handle, name, len(name))
        self.address = name.value.decode()

    def destroy(self):
        if self.handle:
            TENT.tent_destroy_engine(self.handle)
        self.handle = None

    def memory(self, size, allocated=False, at=None, seed=None):
        """Registered memory, the engine's own or the application's, filled where there is a seed."""
        if allocated:
            address = ctypes.c_void_p()
            call("allocate_memory", self.handle, ctypes.byref(address), size, b"")
            memory = Memory(size, address.value)
        else:
            memory = Memory(size) if at is None else Memory(size, map_at(at, size))
        if seed is not None:
            memory.fill(seed)
        self.memories[memory.address] = memory
        if not allocated:
            call("register_memory", self.handle, memory.address, size)
        elif SANITIZED == "thread":
            # Uses of a region come after the registering of another one, which the sanitizer sees, and so after the
            # fill. Otherwise it looks up for each eight bytes sent that the race is suppressed: 20 s a MiB.
            self.memory(4096)
        return memory

    def unregister(self, memory):
        call("unregister_memory", self.handle, memory.address, memory.size)

    def free(self, memory):
        call("free_memory", self.handle, memory.address)
        del self.memories[memory.address]

    def open(self, name):
        segment = ctypes.c_uint64()
        call("open_segment", self.handle, ctypes.byref(segment), name.encode())
        return segment.value

    def close(self, segment):
        call("close_segment", self.handle, segment)

    def buffers(self, segment):
        """The address and length of each buffer of a segment."""
        info = SegmentInfo()
        call("get_segment_info", self.handle, segment, ctypes.byref(info))
        found = [(info.buffers[i].base, info.buffers[i].length) for i in range(info.num_buffers)]
        TENT.tent_free_segment_info(ctypes.byref(info))
        return found

    def batch(self, capacity):
        return Batch(self, capacity)


class Batch:
    def __init__(self, engine, capacity):
        self.engine, self.count = engine, 0
        self.handle = TENT.tent_allocate_batch(engine.handle, capacity)
        if not self.handle:
            raise last_error()

    def submit(self, segment, opcode, pieces, deadline_budget_ns=None):
        """`pieces`: of (local address, remote address, length)."""
        deadline = ctypes.c_uint64()
        if deadline_budget_ns is not None:
            call("deadline_after_ns", deadline_budget_ns, ctypes.byref(deadline))
        size = ctypes.sizeof(Request)
        entries = (Request * len(pieces))(*(
            Request(struct_size=size, schema_version=1, opcode=opcode, source=local, target_id=segment,
                    target_offset=remote, length=length, deadline_ns=deadline.value)
            for local, remote, length in pieces))
        call("submit_requests", self.engine.handle, self.handle, entries, len(pieces), size, 1)
        self.count += len(pieces)
        return self

    def wait(self, seconds=None):
        call("wait_batch", self.engine.handle, self.handle, FOREVER if seconds is None else int(seconds * 1e9))
        return self

    def status(self, task):
        status = Status()
        call("task_status", self.engine.handle, self.handle, task, ctypes.byref(status))
        return STATUSES[status.status]

    def statuses(self):
        return [self.status(task) for task in range(self.count)]

    def error(self, task):
        result = Result(struct_size=ctypes.sizeof(Result))
        call("task_error", self.engine.handle, self.handle, task, ctypes.byref(result))
        return TentError(result)

    def errors(self):
        """Each way in which a task has ended, as (status, reason, message)."""
        ways = {}
        for task, status in enumerate(self.statuses()):
            error = self.error(task)
            ways.setdefault((status, error.reason), error.message)
        return [(status, reason, message) for (status, reason), message in sorted(ways.items())]

    def descriptor(self):
        """Becomes readable when all has ended."""
        fd = ctypes.c_int()
        call("batch_fd", self.engine.handle, self.handle, ctypes.byref(fd))
        return fd.value

    def cancel(self):
        for task in range(self.count):
            call("cancel_task", self.engine.handle, self.handle, task)

    def free(self):
        call("free_batch", self.engine.handle, self.handle)
