"""What the connectors of this folder share: the contract of docs/connectors.md, as code.

An operation of the framework's becomes one intent. Its budget, if it has one, becomes a deadline once, here, in the
process that submits; retries and other replicas get the same intent and what is left of the time. Priority and
transport stay unset: the contract of the tenant and the policies decide. What was asked for and what was granted go
into the trace.
"""

import enum
from typing import Any, Optional, Sequence

import tent


class Operation(enum.Enum):
    """What frameworks do, and what it is for."""

    KV_FETCH = "kv_fetch"
    KV_PREFETCH = "kv_prefetch"
    KV_MIGRATION = "kv_migration"
    CHECKPOINT_WRITE = "checkpoint_write"
    WEIGHT_LOAD = "weight_load"


INTENTS = {
    Operation.KV_FETCH: tent.IntentType.FOREGROUND_GET,
    Operation.KV_PREFETCH: tent.IntentType.BACKGROUND_PREFETCH,
    Operation.KV_MIGRATION: tent.IntentType.MIGRATION,
    Operation.CHECKPOINT_WRITE: tent.IntentType.CHECKPOINT,
    Operation.WEIGHT_LOAD: tent.IntentType.WEIGHT_LOADING,
}

# What another attempt, at this replica or another, may mend. Whatever was refused before a byte moved would be again.
RETRIED = {"peer_lost", "peer_unreachable", "stale_segment", "timeout", "io_error"}


class Move:
    """One operation on one piece of memory, over as many attempts as it takes."""

    def __init__(self, engine: tent.TransferEngine, intent: tent.TransferIntent, local: Any,
                 replicas: Sequence[tent.Remote], writes: bool) -> None:
        self.intent = intent
        self.attempts: list[tent.Transfer] = []
        self.attributes: dict[str, str] = {}
        self._engine = engine
        self._local = local
        self._replicas = list(replicas)
        self._writes = writes
        self._failure: Optional[tent.TentException] = None
        self._begin()

    def _begin(self) -> None:
        """Begins an attempt at the next replica that takes one."""
        while self._replicas:
            remote = self._replicas.pop(0)
            ends = (self._local, remote) if self._writes else (remote, self._local)
            try:
                if "tent.status" not in self.attributes:
                    explained = tent.explain(*ends, engine=self._engine, intent=self.intent)
                    self.attributes.update(tent.trace_attributes(explained))
                self.attempts.append(tent.transfer(*ends, engine=self._engine, intent=self.intent))
                return
            except tent.TentException as error:
                self._failed(error)
        assert self._failure is not None
        raise self._failure

    def _failed(self, error: tent.TentException) -> None:
        late = 0 < self.intent.deadline_ns <= tent.monotonic_now_ns()
        self.attributes["tent.outcome"] = error.reason
        if error.reason not in RETRIED or late or not self._replicas:
            raise error
        self._failure = error

    def done(self) -> bool:
        """Whether `finish` would not wait for an attempt that has begun."""
        return self.attempts[-1].done()

    def finish(self) -> int:
        """Waits for the end, with further attempts where these may help; the bytes moved. Raises why there are none."""
        while True:
            error = self.attempts[-1].exception()
            if error is None:
                self.attributes["tent.outcome"] = "ok"
                self.attributes["tent.attempts"] = str(len(self.attempts))
                return self.attempts[-1].result()
            if not isinstance(error, tent.TentException):
                raise error
            self._failed(error)
            self._begin()


class Connector:
    """Turns operations into moves.

    `policy_name`: of the configuration's, where the deployment says so; never one that is made up here.
    """

    def __init__(self, engine: tent.TransferEngine, policy_name: Optional[str] = None) -> None:
        self.engine = engine
        self._policy_name = policy_name

    def _intent(self, operation: Operation, slo: Optional[tent.Budget]) -> tent.TransferIntent:
        intent = tent.TransferIntent(intent_type=INTENTS[operation], budget=slo, policy_name=self._policy_name)
        return intent.started()

    def read(self, operation: Operation, replicas: Sequence[tent.Remote], into: Any,
             slo: Optional[tent.Budget] = None) -> Move:
        """Begins to read what each of the replicas has. `slo`: seconds that the layer above leaves for it."""
        return self.read_all(operation, [(replicas, into)], slo)[0]

    def read_all(self, operation: Operation, parts: Sequence[tuple[Sequence[tent.Remote], Any]],
                 slo: Optional[tent.Budget] = None) -> list[Move]:
        """The same for parts of one operation, (replicas, into) each: they share one intent, and one deadline."""
        intent = self._intent(operation, slo)
        return [Move(self.engine, intent, into, replicas, writes=False) for replicas, into in parts]

    def write(self, operation: Operation, data: Any, replicas: Sequence[tent.Remote],
              slo: Optional[tent.Budget] = None) -> Move:
        """Begins to write to the first of the replicas that takes it."""
        return Move(self.engine, self._intent(operation, slo), data, replicas, writes=True)
