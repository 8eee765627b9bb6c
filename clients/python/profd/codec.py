"""Reads and writes the generated dataclasses of protocol.py.

The rules are those of every codec of the protocol: unknown fields are ignored; null counts as absent for an
optional field; a number without a fraction is an integer however it is written; limits hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

_MAX_INTEGER = 2**31 - 1
_MAX_SAFE_INTEGER = 2**53 - 1
_INTEGERS = {
    "i": (-_MAX_INTEGER - 1, _MAX_INTEGER),
    "u": (0, _MAX_INTEGER),
    "l": (-_MAX_SAFE_INTEGER, _MAX_SAFE_INTEGER),
}
_STRUCTURES: dict[str, type[Structure]] = {}

S = TypeVar("S", bound="Structure")


class DecodeError(ValueError):
    """A value that is not what the protocol says; the text begins with its place."""


@dataclass(frozen=True)
class FieldSpec:
    """How a field travels: its Python name, its type code (protocol/gen/compact.h), and its limits."""

    name: str
    type: Any
    required: bool
    limits: dict[str, float] | None = None


class Structure:
    """Base of the generated types."""

    SCHEMA: ClassVar[dict[str, FieldSpec]] = {}

    def __init_subclass__(cls) -> None:
        _STRUCTURES[cls.__name__] = cls

    @classmethod
    def from_json(cls: type[S], value: Any, path: str = "") -> S:
        """Raises DecodeError."""
        path = path or cls.__name__
        if not isinstance(value, dict):
            raise DecodeError(f"{path}: expected object")
        fields: dict[str, Any] = {}
        for wire, spec in cls.SCHEMA.items():
            place = f"{path}.{wire}"
            item = value.get(wire)
            if item is None and not (spec.required and wire in value):
                if spec.required:
                    raise DecodeError(f"{place}: missing")
                continue
            fields[spec.name] = decode(spec.type, item, place)
            _check_limits(spec.limits, item, place)
        return cls(**fields)

    def to_json(self) -> dict[str, Any]:
        """Fields that are None are left out unless the protocol wants a null there."""
        out: dict[str, Any] = {}
        for wire, spec in self.SCHEMA.items():
            value = getattr(self, spec.name)
            if value is not None or spec.required:
                out[wire] = encode(value)
        return out


@dataclass(frozen=True)
class Message:
    """A method with the type codes of its parameters and result; None: it has none."""

    method: str
    params: Any
    result: Any

    def decode_result(self, value: Any) -> Any:
        """Raises DecodeError."""
        return decode(self.result, value, "result")


def encode(value: Any) -> Any:
    """A JSON value for a structure, or for lists and dictionaries of them."""
    if isinstance(value, Structure):
        return value.to_json()
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    return value


def decode(code: Any, value: Any, path: str) -> Any:
    """The Python value of a JSON value of the type `code`; raises DecodeError."""
    if isinstance(code, str):
        return _decode_base(code, value, path)
    kind = code[0]
    if kind == "S":
        return _STRUCTURES[code[1]].from_json(value, path)
    if kind == "a":
        if not isinstance(value, list):
            raise DecodeError(f"{path}: expected array")
        return [decode(code[1], item, f"{path}[{i}]") for i, item in enumerate(value)]
    if kind == "m":
        if not isinstance(value, dict):
            raise DecodeError(f"{path}: expected object")
        return {key: decode(code[1], item, f"{path}.{key}") for key, item in value.items()}
    if kind == "=":
        if value != code[1]:
            raise DecodeError(f'{path}: expected "{code[1]}"')
        return value
    last = DecodeError(f"{path}: no alternative")
    for alternative in code[1:]:
        try:
            return decode(alternative, value, path)
        except DecodeError as error:
            last = error
    raise last


def _decode_base(code: str, value: Any, path: str) -> Any:
    if code == "*":
        return value
    if code == "0":
        if value is not None:
            raise DecodeError(f"{path}: expected null")
        return None
    if code == "s":
        if not isinstance(value, str):
            raise DecodeError(f"{path}: expected string")
        return value
    if code == "b":
        if not isinstance(value, bool):
            raise DecodeError(f"{path}: expected boolean")
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise DecodeError(f"{path}: expected {'number' if code == 'n' else 'integer'}")
    if code == "n":
        return value
    low, high = _INTEGERS[code]
    if value != int(value) or not low <= value <= high:
        raise DecodeError(f"{path}: expected integer from {low} to {high}")
    return int(value)


def _check_limits(limits: dict[str, float] | None, value: Any, path: str) -> None:
    if limits is None:
        return
    if isinstance(value, (int, float)):
        if value < limits.get("minimum", value):
            raise DecodeError(f"{path}: must be at least {limits['minimum']}")
        if value > limits.get("maximum", value):
            raise DecodeError(f"{path}: must be at most {limits['maximum']}")
    elif isinstance(value, str):
        if len(value.encode()) > limits.get("maxLength", float("inf")):
            raise DecodeError(f"{path}: must be at most {limits['maxLength']} bytes long")
    elif isinstance(value, list) and len(value) > limits.get("maxItems", float("inf")):
        raise DecodeError(f"{path}: must have at most {limits['maxItems']} items")
