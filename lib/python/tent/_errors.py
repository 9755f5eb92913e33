"""The exceptions of the API, under the names that its deployed callers catch."""

import builtins
from typing import Optional


class TentException(Exception):
    """What the library refused, or could not do.

    category  the stable name of the kind, as result objects have it: "invalid_enum", "runtime_error", ...
    code      the number of the category, as the C API returns it
    reason    the finer stable name: "unknown_intent_type", "peer_lost", ...
    field     the request's field, or the call's argument, that is to blame; None where none is
    index     which request of the call; -1: the call as a whole
    failing   how many requests of the call fail; 0 where the call itself does
    message   one sentence for people
    """

    category: str = "runtime_error"
    code: int = -1
    reason: str = "internal"
    field: Optional[str] = None
    index: int = -1
    failing: int = 0
    message: str = ""


class InvalidArgumentError(TentException, ValueError):
    """A request or an argument is wrong, or asks for what the contract does not allow."""


class AddressNotRegisteredError(TentException):
    """An address is in no registered memory, or could not be registered."""


class DeviceNotFoundError(TentException):
    """No authorized transport, or not the hinted one, can carry the request on these hosts."""


class InvalidEntryError(TentException):
    """Deployed; nothing here raises it: what it was for is an InvalidArgumentError."""


class RdmaError(TentException):
    """Of RDMA devices. Deployed; nothing here raises it yet."""


class CudaError(TentException):
    """Of CUDA. Deployed; nothing here raises it yet."""


class MetadataError(TentException):
    """What is known of a segment is out of date: open it again."""


class RpcServiceError(TentException):
    """A peer cannot be reached, went away, or does not let this process in."""


class InternalError(TentException):
    """Any other trouble while running."""


class NotImplementedError(TentException, builtins.NotImplementedError):
    """A known value that this build cannot serve."""


_BY_REASON: "dict[str, type[TentException]]" = {
    "out_of_range": AddressNotRegisteredError,
    "registration_failed": AddressNotRegisteredError,
    "hint_unavailable": DeviceNotFoundError,
    "no_transport": DeviceNotFoundError,
    "stale_segment": MetadataError,
    "peer_unreachable": RpcServiceError,
    "peer_lost": RpcServiceError,
    "auth_failed": RpcServiceError,
    "bad_configuration": InvalidArgumentError,
}
_BY_CATEGORY: "dict[str, type[TentException]]" = {
    "runtime_error": InternalError,
    "unsupported_field": NotImplementedError,
}


def error_of(where: str, category: str, code: int, reason: str, field: str, index: int, failing: int,
             message: str) -> TentException:
    """The exception of a status of the library's."""
    kind = _BY_REASON.get(reason, _BY_CATEGORY.get(category, InvalidArgumentError))
    entry = f" (request {index})" if index > 0 or failing > 1 else ""
    error = kind(f"{where}: {category}/{reason}{entry}: {message}")
    error.category, error.code, error.reason, error.field = category, code, reason, field or None
    error.index, error.failing, error.message = index, failing, message
    return error
