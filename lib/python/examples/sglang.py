"""A hierarchical cache's storage backend, as SGLang has one: pages of KV in a host pool, the others on other nodes.

    fetch     the scheduler cannot run the request without them    foreground_get, within the request's TTFT budget
    prefetch  the radix tree matched pages that are not here yet   background_prefetch
    migrate   a prefill worker hands pages to a decode worker      migration, within the same budget
"""

from typing import Optional, Sequence

import numpy
import numpy.typing
import tent
from connector import Connector, Move, Operation


class PageBackend:
    """`pool`: an array whose rows are pages; `where`: the place of each page, by its hash."""

    def __init__(self, engine: tent.TransferEngine, pool: "numpy.typing.NDArray[numpy.uint8]",
                 where: dict[str, tent.Remote]) -> None:
        self.pool = pool
        self.where = where
        self._connector = Connector(engine)
        self._coming: dict[str, tuple[int, Move]] = {}

    def fetch(self, hashes: Sequence[str], rows: Sequence[int], ttft_left: tent.Budget) -> None:
        """Brings pages into rows of the pool, all of them by one deadline; what was prefetched is waited for."""
        coming = [page for page, row in zip(hashes, rows) if self._coming.get(page, (None,))[0] == row]
        missing = [([self.where[page]], self.pool[row]) for page, row in zip(hashes, rows) if page not in coming]
        moves = self._connector.read_all(Operation.KV_FETCH, missing, ttft_left)
        for move in [*moves, *(self._coming.pop(page)[1] for page in coming)]:
            move.finish()

    def prefetch(self, hashes: Sequence[str], rows: Sequence[int]) -> None:
        """Begins to bring pages, for nobody in particular."""
        for page, row in zip(hashes, rows):
            move = self._connector.read(Operation.KV_PREFETCH, [self.where[page]], self.pool[row])
            self._coming[page] = row, move

    def migrate(self, rows: Sequence[int], places: Sequence[tent.Remote],
                ttft_left: Optional[tent.Budget]) -> list[Move]:
        """Hands pages to a decode worker; gives the moves, for the caller to finish."""
        return [self._connector.write(Operation.KV_MIGRATION, self.pool[row], [place], ttft_left)
                for row, place in zip(rows, places)]
