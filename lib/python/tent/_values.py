"""The enumerations of the API, by the names and numbers of the C header.

They are not ints: a number, a bool or another enumeration's member is refused wherever one of these is expected.
`int(member)` gives the number.
"""

import enum


class _Value(enum.Enum):
    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)


class OpCode(_Value):
    """Which way the bytes go."""

    READ = 0
    WRITE = 1


class IntentType(_Value):
    """What a transfer is for."""

    INTENT_UNSPEC = 0
    FOREGROUND_GET = 1
    BACKGROUND_PREFETCH = 2
    MIGRATION = 3
    CHECKPOINT = 4
    WEIGHT_LOADING = 5
    STAGING_INTERNAL = 6
    """Refused: TENT's own."""


class RequestedPriority(_Value):
    """How urgent a transfer is: a wish, not a right. UNSPEC: what the contract gives."""

    UNSPEC = 0
    HIGH = 1
    MEDIUM = 2
    LOW = 3


class TransportType(_Value):
    """A transport, as a hint. UNSPEC: what the policy says."""

    UNSPEC = 0
    RDMA = 1
    MNNVL = 2
    SHM = 3
    NVLINK = 4
    GDS = 5
    IOURING = 6
    TCP = 7
    AscendDirect = 8
    SUNRISE_LINK = 9
    TPU = 10
    UB = 11
    MPCOMM = 12


class ValidationMode(_Value):
    """What becomes of values that this library does not know. CONFIGURED: what the engine's configuration says."""

    CONFIGURED = -1
    STRICT = 0
    COMPAT = 1


class TransferStatusEnum(_Value):
    """How far a task has come; from CANCELED on it has ended, and INVALID too."""

    INITIAL = 0
    PENDING = 1
    INVALID = 2
    CANCELED = 3
    COMPLETED = 4
    TIMEOUT = 5
    FAILED = 6


class Permission(_Value):
    """What peers may do with registered memory."""

    LocalReadWrite = 0
    GlobalReadOnly = 1
    GlobalReadWrite = 2


class SegmentInfoType(_Value):
    """What a segment is."""

    Memory = 0
    File = 1
