"""The C++ API. Use it through the package `tent`."""

from typing import Any, Optional, Sequence, overload

from ._values import (IntentType, OpCode, Permission, RequestedPriority, SegmentInfoType, TransferStatusEnum,
                      TransportType, ValidationMode)

LOCAL_SEGMENT_ID: int
"""The engine's own memory, as a segment."""

def monotonic_now_ns() -> int:
    """The clock of deadlines, which is `time.monotonic_ns()`."""

def deadline_after_ns(budget_ns: int) -> int:
    """Now plus a budget. InvalidArgumentError: over 64 bits, or a budget over 30 days. A budget of 0 has expired."""

class RawIntent:
    """Unchecked int32 numbers in place of enumerations' members, for tests of the validation alone."""

    def __init__(self, *, opcode: Optional[int] = None, intent_type: Optional[int] = None,
                 requested_priority: Optional[int] = None, transport_hint: Optional[int] = None) -> None: ...
    def apply_to(self, request: Request) -> None:
        """Puts the numbers into a request."""

class Request:
    """One transfer and what it means.

    `source` is an address of this process, to be mapped until the task has ended; `target_offset` an address inside the
    target's buffers. `priority` is that of deployed callers (0 high, 1 medium, 2 low), which cannot say "unspecified";
    `requested_priority`, where it is given, takes its place.
    """

    opcode: OpCode
    source: int
    target_id: int
    target_offset: int
    length: int
    priority: int
    transport_hint: TransportType
    policy_name: Optional[str]
    deadline_ns: int
    intent_type: IntentType
    requested_priority: Optional[RequestedPriority]
    flags: int
    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, opcode: OpCode, source: int, target_id: int, target_offset: int, length: int,
                 priority: int = 0, transport_hint: TransportType = TransportType.UNSPEC,
                 policy_name: Optional[str] = None, deadline_ns: int = 0,
                 intent_type: IntentType = IntentType.INTENT_UNSPEC, *,
                 requested_priority: Optional[RequestedPriority] = None, flags: int = 0,
                 raw_intent: Optional[RawIntent] = None) -> None: ...

class TransferStatus:
    """How far a task or a batch has come."""

    state: TransferStatusEnum
    bytes: int
    def __init__(self) -> None: ...

class Notification:
    """A short message to the application at the other end: a name of up to 255 bytes, a message of up to 4095.

    `sender`, of one received: the handle of the sender's segment, where it is open here; else 0.
    """

    name: str
    msg: str
    sender: int
    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, name: str, msg: str) -> None: ...

class MemoryOptions:
    """How memory is allocated or registered: where ("cpu", "cpu:N"), what peers may do, which transport serves it."""

    location: str
    perm: Permission
    type: TransportType
    def __init__(self) -> None: ...

class SegmentInfoBuffer:
    """One piece of memory that peers may reach."""

    base: int
    length: int
    location: str
    def __init__(self) -> None: ...

class SegmentInfo:
    """What a segment offers to its peers."""

    type: SegmentInfoType
    @property
    def buffers(self) -> list[SegmentInfoBuffer]: ...
    def __init__(self) -> None: ...

class NicLoadStat:
    """How busy a NIC is."""

    device_name: str
    inflight_bytes: int
    @property
    def ewma_bandwidth_bps(self) -> float: ...

class Buffer:
    """The memory of an object with the buffer protocol, held until release()."""

    def __init__(self, object: Any, writable: bool) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def length(self) -> int: ...
    def release(self) -> None:
        """Lets go of the object. May be called again."""

class TransferEngine:
    """`tent.TransferEngine` without what that adds."""

    def __init__(self, config_path: str = ...) -> None: ...
    def available(self) -> bool:
        """Whether it came to life, and was not closed."""
    def raise_creation_error(self) -> None:
        """Raises why it did not come to life, where it did not."""
    def close(self) -> None:
        """Ends what is in flight and gives everything back. May be called again, and while other threads wait."""

    def get_segment_name(self) -> str:
        """What peers pass to `open_segment`."""
    def get_rpc_server_address(self) -> str:
        """The address that it listens on."""
    def get_rpc_server_port(self) -> int:
        """The port that it listens on; 0 where it is not available."""
    def open_segment(self, segment_name: str) -> int:
        """Connects to the engine of that name; the same name gives the same handle, to be closed as often."""
    def close_segment(self, handle: int) -> None:
        """Undoes one open_segment."""
    def get_segment_info(self, handle: int) -> SegmentInfo:
        """The buffers that peers may reach, as the target describes itself now."""
    def get_nic_load_stats(self) -> list[NicLoadStat]:
        """How busy each NIC is."""

    def allocate_local_memory(self, size: int, location: str = "*") -> int:
        """Zeroed memory that is registered; its address. Peers on this machine map it."""
    def allocate_local_memory_ex(self, size: int, options: MemoryOptions) -> int:
        """The same, with options."""
    def free_local_memory(self, addr: int) -> None:
        """Gives allocated memory back. Refused while transfers from or to it are in flight."""
    def register_local_memory(self, addr: int, size: int,
                              permission: Permission = Permission.GlobalReadWrite) -> None:
        """Registers memory of this process, which must stay mapped until it is unregistered."""
    def register_local_memory_ex(self, addr: int, size: int, options: MemoryOptions) -> None:
        """The same, with options."""
    def unregister_local_memory(self, addr: int, size: int = 0) -> None:
        """`size` 0: what was registered at the address."""
    def register_local_memory_batch(self, addr_list: Sequence[int], size_list: Sequence[int],
                                    permission: Permission = Permission.GlobalReadWrite) -> None:
        """Registers several pieces of memory, all or nothing."""
    def register_local_memory_batch_ex(self, addr_list: Sequence[int], size_list: Sequence[int],
                                       options: MemoryOptions) -> None:
        """The same, with options."""
    def unregister_local_memory_batch(self, addr_list: Sequence[int], size_list: Sequence[int] = ...) -> None:
        """All or nothing. No sizes: what was registered at the addresses."""

    def allocate_transfer_batch(self, batch_size: int) -> int:
        """A batch with room for so many tasks."""
    def free_transfer_batch(self, batch_id: int) -> None:
        """Refused while tasks are in flight."""
    def submit_transfer(self, batch_id: int, request_list: Sequence[Request], notifi: Optional[Notification] = None, *,
                        mode: ValidationMode = ValidationMode.CONFIGURED) -> None:
        """All or nothing: after an error no byte has moved. Requests become the next tasks of the batch."""
    def submit_transfer_notif(self, batch_id: int, request_list: Sequence[Request], name: str,
                              message: str) -> None:
        """submit_transfer with a notification: the targets receive it once these tasks are completed."""
    def explain_json(self, request_list: Sequence[Request], *, mode: ValidationMode = ValidationMode.CONFIGURED,
                     now_ns: int = 0, environment: Optional[str] = None) -> str:
        """`TransferEngine.explain_transfer` of the package, as JSON."""
    def cancel_transfer(self, batch_id: int, task_id: int) -> None:
        """Asks that a task does not begin; poll it until its status is final."""
    def wait_batch(self, batch_id: int, timeout_ns: Optional[int] = None) -> bool:
        """Waits until no task of the batch is in flight; false when the time passed first. None: without limit."""
    def get_batch_fd(self, batch_id: int) -> int:
        """A descriptor that is readable while no task of the batch is in flight. The engine's; gone with the batch."""
    def get_transfer_status(self, batch_id: int, task_id: int) -> TransferStatus:
        """How far a task has come."""
    def get_transfer_status_list(self, batch_id: int) -> list[TransferStatus]:
        """How far each task of a batch has come."""
    def get_transfer_status_overall(self, batch_id: int) -> TransferStatus:
        """How far a batch has come: PENDING while a task is in flight."""
    def raise_task_error(self, batch_id: int, task_id: int) -> None:
        """Raises why a task ended other than COMPLETED, where it did."""
    def send_notifi(self, target_id: int, notifi: Notification) -> None:
        """Sends a notification; waits until the peer has it."""
    def recv_notifi(self) -> list[Notification]:
        """The notifications that have arrived since the last call."""
