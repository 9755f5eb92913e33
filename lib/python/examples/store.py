"""A key-value store's client over TENT: objects lie in memory of storage nodes, some of them twice.

    get          a reader waits                         foreground_get, with what is left of its budget
    prefetch     somebody may ask for it soon           background_prefetch
    checkpoint   a training job's state is written      checkpoint
    migrate      an object moves to another node        migration
    load_weights weights of a model that starts         weight_loading
"""

from typing import Optional, Sequence, Union

import tent
from connector import Connector, Move, Operation


class StoreClient:
    """`index`: where each object lies, one place for each of its replicas. A real client asks the store's master."""

    def __init__(self, engine: tent.TransferEngine, policy_name: Optional[str] = None) -> None:
        self.index: dict[str, list[tent.Remote]] = {}
        self.traces: list[dict[str, str]] = []
        self._connector = Connector(engine, policy_name)
        self._prefetched: dict[str, tuple[bytearray, Move]] = {}

    def get(self, key: str, slo: Optional[tent.Budget] = None) -> bytearray:
        """The object, from whichever of its replicas answers; all of them within the one `slo`."""
        if key in self._prefetched:
            value, move = self._prefetched.pop(key)
            move.finish()
            return value
        return self._read(Operation.KV_FETCH, key, slo)

    def prefetch(self, key: str) -> None:
        """Begins to bring the object here; a later `get` finds it, or waits for the rest."""
        value = bytearray(self._length(key))
        move = self._connector.read(Operation.KV_PREFETCH, self.index[key], value)
        self.traces.append(move.attributes)
        self._prefetched[key] = value, move

    def load_weights(self, key: str) -> bytearray:
        """The weights of a model that starts."""
        return self._read(Operation.WEIGHT_LOAD, key, None)

    def checkpoint(self, key: str, value: Union[bytes, bytearray], places: Sequence[tent.Remote]) -> None:
        """Writes a checkpoint to each of its places."""
        for place in places:
            self._write(Operation.CHECKPOINT_WRITE, value, place[:len(value)])
        self.index[key] = [place[:len(value)] for place in places]

    def migrate(self, key: str, place: tent.Remote) -> None:
        """Moves an object from where it lies to another node, by way of this one."""
        value = self._read(Operation.KV_MIGRATION, key, None)
        self._write(Operation.KV_MIGRATION, value, place[:len(value)])
        self.index[key] = [place[:len(value)]]

    def _length(self, key: str) -> int:
        length = self.index[key][0].length
        assert length is not None
        return length

    def _read(self, operation: Operation, key: str, slo: Optional[tent.Budget]) -> bytearray:
        value = bytearray(self._length(key))
        move = self._connector.read(operation, self.index[key], value, slo)
        self.traces.append(move.attributes)
        move.finish()
        return value

    def _write(self, operation: Operation, value: Union[bytes, bytearray], place: tent.Remote) -> None:
        move = self._connector.write(operation, value, [place])
        self.traces.append(move.attributes)
        move.finish()
