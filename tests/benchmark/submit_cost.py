#!/usr/bin/env python3
"""Instructions of a submit for each request, v1 beside legacy: at most 5 % or 40 more, whichever is more.

    submit_cost.py PROGRAM

Counted by callgrind, so other load does not matter. The first rounds, which open the way, are taken out.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ENTRIES = 64
ROUNDS = (20, 120)


def instructions(program, kind, function, rounds):
    """Inclusive instructions of `function`, all threads together."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", f"--toggle-collect={function}",
                   f"--callgrind-out-file={out}", program, kind, str(rounds)]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        if result.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: {result.stderr}")
        return int(re.search(r"(?m)^(?:summary|totals): (\d+)", out.read_text())[1])


def per_request(program, kind, function):
    few, many = (instructions(program, kind, function, rounds) for rounds in ROUNDS)
    return (many - few) / ((ROUNDS[1] - ROUNDS[0]) * ENTRIES)


def main(program):
    if shutil.which("valgrind") is None:
        print("valgrind is missing: apt-get install valgrind")
        return 77
    legacy = per_request(program, "legacy", "tent_submit")
    v1 = per_request(program, "v1", "tent_submit_requests")
    allowed = max(0.05 * legacy, 40)
    print(f"instructions a request: legacy {legacy:.0f}, v1 {v1:.0f}, {v1 - legacy:+.0f} (at most {allowed:+.0f})")
    return 0 if v1 - legacy <= allowed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
