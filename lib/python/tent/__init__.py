"""TENT: transfers between processes and nodes that say what they are for.

    with tent.TransferEngine() as engine:
        memory = engine.remote_buffers("10.0.0.7:4711")[0]
        page = bytearray(65536)
        tent.transfer(memory[:65536], page, engine=engine, intent_type=tent.IntentType.FOREGROUND_GET,
                      budget=0.005).result()

`transfer` and `explain` are the whole of it for most programs. `TransferEngine` and `Request` have the names that
TENT's deployed callers use. What a request means, gets and comes to is decided in the C++ library, for every language
alike.
"""

from ._endpoints import Local, Remote
from ._engine import (BatchGuard, MemoryGuard, RegistrationGuard, TransferEngine, default_engine, set_default_engine)
from ._errors import (AddressNotRegisteredError, CudaError, DeviceNotFoundError, InternalError, InvalidArgumentError,
                      InvalidEntryError, MetadataError, NotImplementedError, RdmaError, RpcServiceError, TentException)
from ._intent import Budget, TransferIntent, deadline_after
from ._tent import (LOCAL_SEGMENT_ID, MemoryOptions, NicLoadStat, Notification, RawIntent, Request, SegmentInfo,
                    SegmentInfoBuffer, TransferStatus, deadline_after_ns, monotonic_now_ns)
from ._transfer import Transfer, explain, trace_attributes, transfer, transfer_async
from ._values import (IntentType, OpCode, Permission, RequestedPriority, SegmentInfoType, TransferStatusEnum,
                      TransportType, ValidationMode)

PRIO_HIGH = 0
PRIO_MEDIUM = 1
PRIO_LOW = 2
kWildcardLocation = "*"  # noqa: N816  the deployed name

__all__ = [
    "AddressNotRegisteredError", "BatchGuard", "Budget", "CudaError", "DeviceNotFoundError", "IntentType",
    "InternalError", "InvalidArgumentError", "InvalidEntryError", "LOCAL_SEGMENT_ID", "Local", "MemoryGuard",
    "MemoryOptions", "MetadataError", "NicLoadStat", "NotImplementedError", "Notification", "OpCode", "PRIO_HIGH",
    "PRIO_LOW", "PRIO_MEDIUM", "Permission", "RawIntent", "RdmaError", "RegistrationGuard", "Remote", "Request",
    "RequestedPriority", "RpcServiceError", "SegmentInfo", "SegmentInfoBuffer", "SegmentInfoType", "TentException",
    "Transfer", "TransferEngine", "TransferIntent", "TransferStatus", "TransferStatusEnum", "TransportType",
    "ValidationMode", "deadline_after", "deadline_after_ns", "default_engine", "explain", "kWildcardLocation",
    "monotonic_now_ns", "set_default_engine", "trace_attributes", "transfer", "transfer_async",
]

# Members that deployed callers use without their enumeration: tent.READ, tent.COMPLETED, tent.TCP, ...
for _enumeration in (OpCode, TransferStatusEnum, Permission, TransportType, IntentType, SegmentInfoType):
    globals().update(_enumeration.__members__)
del _enumeration
