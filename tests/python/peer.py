"""The process at the other end: an engine with memory, told what to do by lines on its standard input.

    peer.py CONFIG_JSON SIZE

Answers each line with one of JSON. Ends with its input.
"""

import json
import sys
import zlib

import tent


def main(config: str, size: int) -> None:
    with tent.TransferEngine(config) as engine:
        memory = engine.allocate_memory_guard(size)
        read_only = engine.register(bytearray(4096), tent.Permission.GlobalReadOnly)
        print(json.dumps({"name": engine.get_segment_name(), "base": memory.address(),
                          "read_only": read_only.local().address}), flush=True)
        for line in sys.stdin:
            command, *numbers = line.split()
            offset, length, byte = ([int(number) for number in numbers] + [0, 0, 0])[:3]
            answer = None
            with memory.view() as view, view[offset:offset + length] as part:
                if command == "crc":
                    answer = zlib.crc32(part)
                elif command == "fill":
                    part[:] = bytes([byte]) * length
                elif command == "notifications":
                    answer = [(arrived.name, arrived.msg) for arrived in engine.recv_notifi()]
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
