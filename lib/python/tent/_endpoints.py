"""The two ends of a transfer: memory of this process, and memory of a segment's."""

import dataclasses
from typing import Any, Optional, Union

from . import _tent
from ._values import OpCode


def _checked(name: str, number: Any) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__") or hasattr(number, "_value_"):
        raise TypeError(f"{name}: expected an int, not {type(number).__name__}")
    number = number.__index__()
    if not 0 <= number < 2**64:
        raise OverflowError(f"{name}: {number} is not from 0 to 2**64 - 1")
    return int(number)


def _part(offset: int, length: int, piece: slice) -> tuple[int, int]:
    if not isinstance(piece, slice) or piece.step not in (None, 1):
        raise TypeError("take a part as a slice with the step 1: memory[begin:end]")
    begin, end, _ = piece.indices(length)
    return offset + begin, max(end - begin, 0)


@dataclasses.dataclass(frozen=True)
class Local:
    """Memory of this process by its address: what an engine allocated, or what no buffer object stands for.

    It must stay mapped while transfers from or to it are in flight; `owner` is kept alive for that.
    """

    address: int
    length: int
    owner: Any = dataclasses.field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", _checked("address", self.address))
        object.__setattr__(self, "length", _checked("length", self.length))

    def __getitem__(self, piece: slice) -> "Local":
        return Local(*_part(self.address, self.length, piece), self.owner)


@dataclasses.dataclass(frozen=True)
class Remote:
    """Memory of a segment.

    segment  the name of the peer's engine ("host:port", or its `local_segment_name`), or a handle of `open_segment`
    offset   an address inside the segment's buffers, as `get_segment_info` and `remote_buffers` tell them
    length   bytes; None: as many as the other end has
    """

    segment: Union[str, int]
    offset: int
    length: Optional[int] = None

    def __post_init__(self) -> None:
        if not isinstance(self.segment, str):
            object.__setattr__(self, "segment", _checked("segment", self.segment))
        object.__setattr__(self, "offset", _checked("offset", self.offset))
        if self.length is not None:
            object.__setattr__(self, "length", _checked("length", self.length))

    def __getitem__(self, piece: slice) -> "Remote":
        """A part of it: remote[4096:8192]."""
        if self.length is None:
            raise TypeError("a part of a Remote without a length: give it one")
        return Remote(self.segment, *_part(self.offset, self.length, piece))


@dataclasses.dataclass(frozen=True)
class Ends:
    """What both ends come to: one request's addresses, and what has to be kept until it has ended."""

    opcode: OpCode
    remote: Remote
    address: int
    length: int
    held: Any

    def release(self) -> None:
        if isinstance(self.held, _tent.Buffer):
            self.held.release()


def ends_of(src: Any, dst: Any) -> Ends:
    """TypeError, BufferError: an end is no memory, or cannot be written to; ValueError: their lengths differ."""
    if isinstance(src, Remote) == isinstance(dst, Remote):
        raise TypeError("one end is a tent.Remote and the other is this process's memory; memory of this process as a "
                        "Remote has the segment tent.LOCAL_SEGMENT_ID")
    reads = isinstance(src, Remote)
    remote, local = (src, dst) if reads else (dst, src)
    held: Any
    if isinstance(local, Local):
        held, address, length = local, local.address, local.length
    else:
        held = _tent.Buffer(local, writable=reads)
        address, length = held.address, held.length
    if remote.length not in (None, length):
        if isinstance(held, _tent.Buffer):
            held.release()
        raise ValueError(f"the source has {remote.length if reads else length} bytes and the destination "
                         f"{length if reads else remote.length}: transfer as many as there is room for")
    return Ends(OpCode.READ if reads else OpCode.WRITE, remote, address, length, held)
