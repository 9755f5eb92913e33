"""Engines of libtent.so through its C API, in this process and in processes that tests start, stop and kill.

Takes LIBRARY off the front of the command line. A program that imports this may be run again by it, so as to load a
sanitized library (`preload_runtimes`); run by itself, it is the process of a `Worker`:

    engine.py LIBRARY          reads a command a line, {"do": NAME, ...}, and answers with a line
"""

import contextlib
import ctypes
import json
import mmap
import os
import random
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from c_structs import Request, Result  # noqa: E402

LIBRARY = Path(sys.argv.pop(1)).resolve()
MIB = 1 << 20
READ, WRITE = 0, 1
STATUSES = ["waiting", "pending", "invalid", "canceled", "completed", "timeout", "failed"]
TERMINAL = {"invalid", "canceled", "completed", "timeout", "failed"}
READ_ONLY, READ_WRITE = 1, 2  # PERM_GLOBAL_*
FOREVER = (1 << 64) - 1


class Status(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("transferred_bytes", ctypes.c_uint64)]


class BufferInfo(ctypes.Structure):
    _fields_ = [("base", ctypes.c_uint64), ("length", ctypes.c_uint64), ("location", ctypes.c_char * 64)]


class SegmentInfo(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("num_buffers", ctypes.c_int), ("buffers", ctypes.POINTER(BufferInfo))]


def runtimes():
    """The sanitizers' runtimes that the library needs."""
    linked = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"=> (\S+/lib[at]san\.so\S*)", linked)
    # They look for its functions when they begin, and the interpreter has no use for it.
    return needed and needed + re.findall(r"=> (\S+/libstdc\+\+\.so\S*)", linked)


def preload_runtimes():
    """A sanitized library is loaded by a program that is not: its runtime has to come first. Runs this one again."""
    needed = runtimes()
    if any("libtsan" in runtime for runtime in needed):
        print("skipped: the thread sanitizer would have to see what the interpreter does")
        sys.exit(77)
    if needed and "LD_PRELOAD" not in os.environ:
        # What the interpreter never frees is not the library's.
        options = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"]))
        environment = {**os.environ, "LD_PRELOAD": " ".join(needed), "ASAN_OPTIONS": options}
        os.execve(sys.executable, [sys.executable, "-B", sys.argv[0], LIBRARY, *sys.argv[1:]], environment)
    return bool(needed)


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
            "cancel_task": [engine, u64, size], "wait_batch": [engine, u64, u64],
            "task_error": [engine, u64, size, ctypes.POINTER(Result)],
            "submit_requests": [engine, u64, ctypes.c_void_p, size, size, ctypes.c_uint32],
            "deadline_after_ns": [u64, ctypes.POINTER(u64)], "last_error": [ctypes.POINTER(Result)]}.items():
        getattr(library, f"tent_{name}").argtypes = arguments
    return library


TENT = None  # loaded by the first engine


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


class Memory:
    """Bytes of this process: an engine's, or (without an address) anonymous ones of the application."""

    def __init__(self, size, address=None):
        self.size, self.mapping = size, None
        if address is None:
            self.mapping = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            self.bytes = (ctypes.c_char * size).from_buffer(self.mapping)
        else:
            self.bytes = (ctypes.c_char * size).from_address(address)
        self.address = ctypes.addressof(self.bytes)
        self.view = memoryview(self.bytes).cast("B")

    def fill(self, seed, offset=0, size=None):
        self.view[offset:offset + (self.size if size is None else size)] = pattern(
            seed, self.size if size is None else size)

    def digest(self, offset=0, size=None):
        return digest(self.view[offset:offset + (self.size if size is None else size)])


def map_at(address, size):
    """Memory at this very address, which must be free."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64]
    fixed_noreplace = 0x100000
    got = libc.mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE,
                    mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | fixed_noreplace, -1, 0)
    if got != address:
        raise OSError(ctypes.get_errno(), "the address is taken")
    return got


def pattern(seed, size):
    """Bytes of which each page of a MiB is another, and each MiB another."""
    tile = random.Random(seed).randbytes(min(size, MIB))
    tiles = [tile[i * 997 % len(tile):] + tile[:i * 997 % len(tile)] for i in range(-(-size // MIB))]
    return b"".join(tiles)[:size]


def digest(data):
    return zlib.crc32(data)


class Engine:
    """Keys of the configuration with "/" written as "__"; beside them a loopback address and any free ports."""

    def __init__(self, **keys):
        global TENT  # pylint: disable=global-statement
        TENT = TENT or load()
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

    def memory(self, size, allocated=False, at=None):
        """Registered memory, the engine's own or the application's."""
        if at is not None:
            memory = Memory(size, map_at(at, size))
            call("register_memory", self.handle, memory.address, size)
        elif allocated:
            address = ctypes.c_void_p()
            call("allocate_memory", self.handle, ctypes.byref(address), size, b"")
            memory = Memory(size, address.value)
        else:
            memory = Memory(size)
            call("register_memory", self.handle, memory.address, size)
        self.memories[memory.address] = memory
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

    def cancel(self):
        for task in range(self.count):
            call("cancel_task", self.engine.handle, self.handle, task)

    def free(self):
        call("free_batch", self.engine.handle, self.handle)


# ---- what a process uses

def descriptors(pid="self"):
    return len(os.listdir(f"/proc/{pid}/fd"))


def thread_names(pid="self"):
    """The names of the threads that the library has started."""
    names = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            names.append((task / "comm").read_text().strip())
    return sorted(name for name in names if name.startswith("tent-"))


def resident_bytes(pid="self"):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def cpu_seconds(pid="self"):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def established(port, pid="self"):
    """Whether a connection to this port is established, as its near end sees it."""
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if int(fields[2].rpartition(":")[2], 16) == port and fields[3] == "01":
                return True
    return False


def wait_for(condition, seconds=60):
    """Looks until `condition` gives something true, which is the result."""
    until = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > until:
            raise AssertionError("it did not come about in time")
        time.sleep(0.0005)


# ---- engines in processes of their own

class Worker:
    """A process that does what it is told: `worker("start", rpc_server_port=0)`. Killed at the end of the `with`."""

    def __init__(self, *prefix, **keys):
        """`prefix`: a command that runs it. `keys`: the configuration of the engine that it starts with, if any."""
        command = [*prefix, sys.executable, "-B", str(Path(__file__).resolve()), str(LIBRARY)]
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.pid, self.pending, self.address = self.process.pid, b"", None
        if keys:
            self.start(**keys)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    @property
    def port(self):
        return int(self.address.rpartition(":")[2])

    def start(self, **keys):
        self.address = self("start", **keys)
        return self.address

    def __call__(self, do, **arguments):
        self.send(do, **arguments)
        return self.answer()

    def send(self, do, **arguments):
        self.process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")

    def answer(self, seconds=60):
        until = time.monotonic() + seconds
        while b"\n" not in self.pending:
            if not select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]:
                raise AssertionError(f"the process did not answer within {seconds} s")
            data = self.process.stdout.read(65536)
            if not data:
                raise AssertionError(f"the process has ended with status {self.process.wait()}")
            self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"], answer["message"])
        return answer["value"]

    def stop(self):
        """Stops it, and waits until it stands still."""
        os.kill(self.pid, signal.SIGSTOP)
        wait_for(lambda: all(state == "T" for state in self.states()))

    def states(self):
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                yield (task / "stat").read_text().rpartition(")")[2].split()[0]

    def go_on(self):
        os.kill(self.pid, signal.SIGCONT)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for file in (self.process.stdin, self.process.stdout):
            file.close()


class WorkerError(Exception):
    def __init__(self, reason, message):
        self.reason, self.message = reason, message
        super().__init__(f"{reason}: {message}")


class Commands:
    """What a worker does."""

    def __init__(self):
        self.engine = None
        self.segments = {}
        self.batches = {}
        self.ballast = []

    def start(self, **keys):
        self.engine = Engine(**keys)
        return self.engine.address

    def destroy(self):
        began = time.monotonic()
        self.engine.destroy()
        return time.monotonic() - began

    def memory(self, size, allocated=False, seed=None, at=None):
        """`at`: an address for memory of the application."""
        memory = self.engine.memory(size, allocated, at)
        if seed is not None:
            memory.fill(seed)
        return memory.address

    def fill(self, address, seed):
        self.engine.memories[address].fill(seed)

    def digest(self, address, offset=0, size=None):
        return self.engine.memories[address].digest(offset, size)

    def register(self, address):
        memory = self.engine.memories[address]
        call("register_memory", self.engine.handle, memory.address, memory.size)

    def unregister(self, address):
        """Seconds that it took."""
        began = time.monotonic()
        self.engine.unregister(self.engine.memories[address])
        return time.monotonic() - began

    def free(self, address):
        began = time.monotonic()
        self.engine.free(self.engine.memories[address])
        return time.monotonic() - began

    def reset(self, port=None):
        """Resets the connections that peers have to this process: all, or those to one port. How many there were."""
        libc, count = ctypes.CDLL(None, use_errno=True), 0
        for fd in map(int, os.listdir("/proc/self/fd")):
            try:
                with socket.socket(fileno=os.dup(fd)) as connection:
                    if connection.family != socket.AF_INET or not connection.getpeername():
                        continue
                    if port in (None, connection.getsockname()[1]):
                        nowhere = bytes(16)  # AF_UNSPEC: an established connection is reset, not ended
                        count += libc.connect(connection.fileno(), nowhere, len(nowhere)) == 0
            except OSError:
                continue
        return count

    def limit_files(self, more):
        """Room for so many more descriptors; None: for as many as may be. Those that are free below count too."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        while self.ballast:
            os.close(self.ballast.pop())
        if more is None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
            return soft
        for _ in range(descriptors() + more + 64):
            self.ballast.append(os.open("/dev/null", os.O_RDONLY))
        highest = self.ballast[-1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, hard))
        for _ in range(more):
            os.close(self.ballast.pop())
        return highest

    def limit(self, name, value):
        _, hard = resource.getrlimit(getattr(resource, name))
        resource.setrlimit(getattr(resource, name), (hard if value is None else value, hard))

    def count_descriptors(self):
        return descriptors()

    def open(self, address):
        """How opening went: seconds, reason ("" for none), message."""
        began = time.monotonic()
        try:
            self.segments[address] = self.engine.open(address)
        except TentError as error:
            return [time.monotonic() - began, error.reason, error.message]
        return [time.monotonic() - began, "", ""]

    def transfer(self, address, opcode, local, remote, length, count=1, span=None):
        """Submits transfers, one beside the other within `span` bytes, over and over."""
        offsets = [i * length % (span or length) for i in range(count)]
        pieces = [(local + offset, remote + offset, length) for offset in offsets]
        self.batches[address] = self.engine.batch(count).submit(self.segments[address], opcode, pieces)

    def ended(self, address):
        return sum(status in TERMINAL for status in self.batches[address].statuses())

    def wait(self, address, seconds):
        """How the transfers ended: seconds, and (status, reason, message) for each way."""
        began = time.monotonic()
        batch = self.batches[address].wait(seconds)
        return [time.monotonic() - began, batch.errors()]

    def fill_folder(self, folder):
        """Writes to a folder's filesystem until there is no room."""
        written = 0
        with open(Path(folder) / "full", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                written += file.write(bytes(65536)) or 0
        return written


def serve():
    commands = Commands()
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            answer = {"value": getattr(commands, request.pop("do"))(**request)}
        except TentError as error:
            answer = {"error": error.reason, "message": error.message}
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": type(error).__name__, "message": str(error)}
        answers.write(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    preload_runtimes()
    serve()
