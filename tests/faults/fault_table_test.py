#!/usr/bin/env python3
"""What becomes of transfers when something breaks: each fault between real processes, with how long it may take.

    fault_table_test.py LIBRARY [TEST ...]     all of them, or those named as unittest does: "Killed", "Ending.test_..."

Every fault ends in a terminal status with a reason within a bound, and the table that is printed at the end says for
each what is expected, the bound, what was seen, and how it ended. A bound is the sum of the limits that the library has
for what happens, and MARGIN for a machine that does other work too. Ends with 77 where nothing that was asked for can
be tried here.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from engine import LIBRARY
from fault_case import CONNECT, CONTROL, CONTROL_SILENCE, MARGIN, ROWS, STALL
from lifecycle_faults import Again, Ending, Starting  # noqa: F401
from memory_faults import Gone  # noqa: F401
from network_faults import Broken, Networks  # noqa: F401
from resource_faults import Exhausted, Memory  # noqa: F401
from target_faults import Killed, Stopped  # noqa: F401

# Those that mostly wait, and run at once; and those that measure, by themselves.
TOGETHER = [("Networks",), ("Killed", "Starting"), ("Stopped", "Broken"), ("Exhausted", "Memory", "Gone"), ("Again",)]
ALONE = ("Ending",)
NOT_TRIED = 77


def print_table(rows):
    titles = ("fault", "transport", "expected", "bound", "seen", "outcome")
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(5)]
    print(f"\nlimits: control exchange {CONTROL} s, silent control connection {CONTROL_SILENCE} s, "
          f"tcp connect {CONNECT} s, tcp stall {STALL} s, margin {MARGIN} s")
    for row in [titles, *rows]:
        print("  ".join([*(text.ljust(width) for text, width in zip(row, widths)), row[5]]).rstrip())


def run_process(names):
    """In a process of their own: the exit code, what was printed, the rows."""
    command = [sys.executable, "-B", __file__, str(LIBRARY), *names]
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as table:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                env={**os.environ, "TENT_FAULT_ROWS": table.name})
        return result.returncode, result.stdout, json.loads(table.read() or "[]")


def run_together(wanted):
    groups = [tuple(name for name in group if name in wanted) for group in TOGETHER]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        results = list(pool.map(run_process, filter(None, groups)))
    if wanted & set(ALONE):
        results.append(run_process(ALONE))
    for _, text, _ in results:
        print(text, end="", flush=True)
    print_table([row for _, _, rows in results for row in rows])
    codes = {code for code, _, _ in results}
    return NOT_TRIED if codes == {NOT_TRIED} else int(not codes <= {0, NOT_TRIED})


def run_here():
    result = unittest.main(argv=sys.argv, exit=False).result
    if "TENT_FAULT_ROWS" in os.environ:
        Path(os.environ["TENT_FAULT_ROWS"]).write_text(json.dumps(ROWS), encoding="utf-8")
    else:
        print_table(ROWS)
    if not result.wasSuccessful():
        return 1
    return NOT_TRIED if result.testsRun == len(result.skipped) else 0


if __name__ == "__main__":
    every = {name for group in [*TOGETHER, ALONE] for name in group}
    groups_named = set(sys.argv[1:]) or every
    alone = "TENT_FAULT_ROWS" in os.environ or len(groups_named) == 1 or not groups_named <= every
    sys.exit(run_here() if alone else run_together(groups_named))
