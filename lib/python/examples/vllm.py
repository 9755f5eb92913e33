"""A KV connector, as vLLM's workers have one: layers are loaded while the model runs through those before them.

    start_load_kv, wait_for_layer_load    the forward pass waits layer by layer     foreground_get, one deadline for all
    save_kv_layer, wait_for_save          the next turn may want them               migration
    load_weights                          a model starts                            weight_loading
"""

from typing import Optional

import numpy
import numpy.typing
import tent
from connector import Connector, Move, Operation

Layers = dict[str, "numpy.typing.NDArray[numpy.float16]"]


class KVConnector:
    """`layers`: the KV cache of this worker, by the names of its layers; `remote`: the same on the other node."""

    def __init__(self, engine: tent.TransferEngine, layers: Layers, remote: dict[str, tent.Remote]) -> None:
        self.layers = layers
        self.remote = remote
        self.traces: dict[str, dict[str, str]] = {}
        self._connector = Connector(engine)
        self._loading: dict[str, Move] = {}
        self._saving: list[Move] = []

    def start_load_kv(self, slo: Optional[tent.Budget] = None) -> None:
        """Begins to load all layers, which share what the request's SLO leaves."""
        moves = self._connector.read_all(Operation.KV_FETCH,
                                         [([self.remote[name]], layer) for name, layer in self.layers.items()], slo)
        self._loading = dict(zip(self.layers, moves))
        self.traces = {name: move.attributes for name, move in self._loading.items()}

    def wait_for_layer_load(self, name: str) -> None:
        """Waits for one layer; those behind it go on coming."""
        self._loading.pop(name).finish()

    def save_kv_layer(self, name: str) -> None:
        """Begins to save a layer. It must not change before wait_for_save."""
        self._saving.append(self._connector.write(Operation.KV_MIGRATION, self.layers[name], [self.remote[name]]))

    def wait_for_save(self) -> None:
        """Waits until everything that was saved has arrived."""
        while self._saving:
            self._saving.pop().finish()

    def load_weights(self, shard: tent.Remote, into: "numpy.typing.NDArray[numpy.float16]") -> None:
        """Loads a shard of a model's weights."""
        self._connector.read(Operation.WEIGHT_LOAD, [shard], into).finish()
