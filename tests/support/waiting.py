"""Waiting for what comes about, and for nothing else."""

import time


def wait_for(condition, seconds=120):
    """Looks until `condition` gives something true, which is the result."""
    until = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > until:
            raise AssertionError("it did not come about in time")
        time.sleep(0.001)
