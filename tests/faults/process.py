"""What a process uses, as the kernel tells it; and what a sanitized library needs of the process that loads it."""

import contextlib
import os
import re
import resource
import subprocess
import sys
from pathlib import Path


def descriptors(pid="self"):
    return len(os.listdir(f"/proc/{pid}/fd"))


def thread_names(pid="self"):
    """The names of the threads that the library has started."""
    names = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            names.append((task / "comm").read_text().strip())
    return sorted(name for name in names if name.startswith("tent-"))


def thread_count(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def made_descriptors(pid):
    """What the descriptors of a process beyond its standard ones are; and those that a program it starts would have."""
    made, inherited = [], []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            what = os.readlink(f"/proc/{pid}/fd/{fd}")
            flags = re.search(r"^flags:\s*([0-7]+)", Path(f"/proc/{pid}/fdinfo/{fd}").read_text(), re.MULTILINE)
            if int(fd) > 2:
                made.append(what)
                if not int(flags[1], 8) & os.O_CLOEXEC:
                    inherited.append(what)
    return made, inherited


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


def runtimes(library):
    """The sanitizers' runtimes that the library needs."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # it is run again
    linked = subprocess.run(["ldd", library], env=environment, capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"=> (\S+/lib[at]san\.so\S*)", linked)
    # They look for its functions when they begin, and the interpreter has no use for it.
    return needed and needed + re.findall(r"=> (\S+/libstdc\+\+\.so\S*)", linked)


def preload_runtimes(library):
    """What the library is sanitized for, "address" or "thread"; "" where it is not. The interpreter is not either, and
    the sanitizer's runtime has to come first: this program is run again with it."""
    needed = runtimes(library)
    if needed and "LD_PRELOAD" not in os.environ:
        # What the interpreter never frees is not the library's.
        options = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"]))
        environment = {**os.environ, "LD_PRELOAD": " ".join(needed), "ASAN_OPTIONS": options}
        os.execve(sys.executable, [sys.executable, "-B", sys.argv[0], str(library), *sys.argv[1:]], environment)
    if not needed:
        return ""
    return "thread" if any("libtsan" in runtime for runtime in needed) else "address"
