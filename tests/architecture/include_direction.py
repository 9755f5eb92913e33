#!/usr/bin/env python3
"""Fails when a room of lib/, or a tool, uses a room it must not know, or a source does not include its header first.

    include_direction.py [ROOT]

Looks at the includes of every C++ source and at the targets that each CMakeLists.txt names. ALLOWED is the architecture:
a new room is entered there on purpose, and an unknown one is a fault. Faults read FILE:LINE: what is wrong; exit code 1.
"""

import re
import sys
from pathlib import Path

_ENGINE_USES = {"base", "auth", "intent", "inventory", "policy", "plan", "config", "transport"}

# Room -> the rooms it may use besides itself.
ALLOWED = {
    "base": set(),
    "auth": {"base"},
    "intent": {"base"},
    "inventory": {"base", "intent"},
    "policy": {"base", "intent", "inventory"},
    "plan": {"base", "intent", "inventory", "policy"},
    "config": {"base", "intent", "inventory", "policy", "plan"},
    "report": {"base", "intent", "inventory", "policy", "plan", "config"},
    "transport": {"base"},
    "engine": _ENGINE_USES,
    "tent": set(),
    "abi": _ENGINE_USES | {"engine", "report", "tent"},
    "cpp": {"tent"},
    "python": {"cpp", "tent"},
}

# The one room whose folder has another name: what is installed is included as "tent/...", from lib/include/tent/.
ROOM_OF_FOLDER = {"include": "tent"}

# Each folder in these rooms is closed to the others there: what they share lies in the room itself.
ROOMS_OF_CLOSED_FOLDERS = {"transport"}

# What explains must run without what moves bytes. tools/common is part of every tool, so it is held to the same.
_MOVES_BYTES = {"transport", "engine", "abi", "cpp", "python"}
TOOL_FORBIDDEN = {"tent-explain": _MOVES_BYTES, "common": _MOVES_BYTES}

INCLUDE = re.compile(r'\s*#\s*include\s*(?P<open>["<])(?P<path>[^">]+)[">]')
TARGET = re.compile(r"\btent(?:::|_)(?P<room>\w+)")


def allowed_in_tool(tool):
    return set(ALLOWED) - {"python"} - TOOL_FORBIDDEN.get(tool, set())


def check_include(source, quoted, path, own, allowed, local_names):
    """What is wrong with one include, or None. `own` is the room or tool of `source`."""
    first, slash, _ = path.partition("/")
    if not quoted:
        return f'<{path}> is a room of ours: write "{path}"' if slash and first in ALLOWED else None
    if not slash:
        if local_names and (source.parent / path).is_file():
            return None
        return f'"{path}" names no room: write "{own}/{path}", or <{path}> for a header of a library'
    if first == own or first in allowed:
        return None
    if first in ALLOWED:
        return f'{own} must not include {first}: "{path}"'
    return f'"{path}": {first} is not a room; a header of a library is included with <>'


def closed_folder_of(path):
    """The folder of a room's path that only itself may include: "tcp" of "transport/tcp/frame.h"; None elsewhere."""
    parts = Path(path).parts
    return parts[1] if len(parts) > 2 and parts[0] in ROOMS_OF_CLOSED_FOLDERS else None


def own_header_of(source, folder, own):
    """The header that belongs to a source, as it is included; None where it has none."""
    header = source.with_suffix(".h")
    if source.suffix == ".h" or not header.is_file():
        return None
    return (Path(own) / header.relative_to(folder)).as_posix()


def faults_of_sources(folder, own, allowed, local_names):
    for source in sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cc", ".cpp", ".c")):
        first_shall_be = None if local_names else own_header_of(source, folder, own)
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match is None:
                continue
            if first_shall_be not in (None, match["path"]):
                yield source, number, f'"{first_shall_be}" is included first, so that it is seen to need nothing before'
            first_shall_be = None
            fault = check_include(source, match["open"] == '"', match["path"], own, allowed, local_names)
            inner = closed_folder_of(match["path"]) if own in ROOMS_OF_CLOSED_FOLDERS else None
            if fault is None and inner not in (None, closed_folder_of(Path(own) / source.relative_to(folder))):
                fault = f'only {own}/{inner} may include its insides: "{match["path"]}"'
            if fault:
                yield source, number, fault


def faults_of_targets(folder, own, allowed):
    for cmake in sorted(folder.rglob("CMakeLists.txt")):
        for number, line in enumerate(cmake.read_text(encoding="utf-8").splitlines(), 1):
            for match in TARGET.finditer(line.split("#")[0]):
                room = match["room"]
                if room in ALLOWED and room != own and room not in allowed:
                    yield cmake, number, f"{own} must not link {room}"


def faults_of(root):
    """All faults of the tree at `root`, as (file, line, text)."""
    for folder in sorted(p for p in (root / "lib").iterdir() if p.is_dir()):
        room = ROOM_OF_FOLDER.get(folder.name, folder.name)
        if room not in ALLOWED:
            yield folder, 0, f"unknown room {room}: enter it, and what it may use, in {Path(__file__).name}"
            continue
        yield from faults_of_sources(folder, room, ALLOWED[room], local_names=False)
        yield from faults_of_targets(folder, room, ALLOWED[room])
    for folder in sorted(p for p in (root / "tools").iterdir() if p.is_dir()):
        allowed = allowed_in_tool(folder.name)
        yield from faults_of_sources(folder, folder.name, allowed | {"common"}, local_names=True)
        yield from faults_of_targets(folder, folder.name, allowed)


def main(arguments):
    root = Path(arguments[0] if arguments else ".").resolve()
    faults = list(faults_of(root))
    for path, line, text in faults:
        print(f"{path.relative_to(root)}:{line}: {text}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
