"""Structs of tent/transfer_engine.h for ctypes."""

import ctypes


class Request(ctypes.Structure):
    """tent_request_v1"""
    _fields_ = [("struct_size", ctypes.c_uint32), ("schema_version", ctypes.c_uint32), ("opcode", ctypes.c_int32),
                ("reserved_opcode", ctypes.c_uint32), ("source", ctypes.c_void_p), ("target_id", ctypes.c_uint64),
                ("target_offset", ctypes.c_uint64), ("length", ctypes.c_uint64), ("intent_type", ctypes.c_int32),
                ("requested_priority", ctypes.c_int32), ("deadline_ns", ctypes.c_uint64),
                ("policy_name", ctypes.c_char_p), ("transport_hint", ctypes.c_int32), ("reserved0", ctypes.c_uint32),
                ("flags", ctypes.c_uint64)]


class Result(ctypes.Structure):
    """tent_result"""
    _fields_ = [("struct_size", ctypes.c_uint32), ("category", ctypes.c_int32), ("reason", ctypes.c_int32),
                ("field", ctypes.c_int32), ("index", ctypes.c_int64), ("failing", ctypes.c_uint64),
                ("category_name", ctypes.c_char_p), ("reason_name", ctypes.c_char_p), ("field_name", ctypes.c_char_p),
                ("message", ctypes.c_char * 512)]
