"""Memory for transfers, and what is in it."""

import ctypes
import mmap
import random
import zlib

MIB = 1 << 20


class Memory:
    """Bytes of this process: an engine's, or (without an address) anonymous ones of the application."""

    def __init__(self, size, address=None):
        self.size, self.mapping = size, None
        if address is None:
            self.mapping = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            self.bytes = (ctypes.c_char * size).from_buffer(self.mapping)
        else:
            self.bytes = (ctypes.c_char * size).from_address(address)
        self.address = ctypes.addressof(self.bytes)
        self.view = memoryview(self.bytes).cast("B")

    def fill(self, seed, offset=0, size=None):
        self.view[offset:offset + (self.size if size is None else size)] = pattern(
            seed, self.size if size is None else size)

    def digest(self, offset=0, size=None):
        return digest(self.view[offset:offset + (self.size if size is None else size)])


def map_at(address, size):
    """Memory at this very address, which must be free."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64]
    fixed_noreplace = 0x100000
    got = libc.mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE,
                    mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | fixed_noreplace, -1, 0)
    if got != address:
        raise OSError(ctypes.get_errno(), "the address is taken")
    return got


def pattern(seed, size):
    """Bytes of which each page of a MiB is another, and each MiB another."""
    tile = random.Random(seed).randbytes(min(size, MIB))
    tiles = [tile[i * 997 % len(tile):] + tile[:i * 997 % len(tile)] for i in range(-(-size // MIB))]
    return b"".join(tiles)[:size]


def digest(data):
    return zlib.crc32(data)
