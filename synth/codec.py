"""Frozen values to plain JSON values and back, for rows that keep them; times as JSON has them."""

from datetime import UTC, datetime
from typing import Any, TypeVar

from cattrs.preconf.json import make_converter

Value = TypeVar("Value")

_converter = make_converter()


def to_json(value: Any) -> Any:
    """A frozen value of `synth.types` as plain JSON values."""
    return _converter.unstructure(value)


def from_json(kind: type[Value], data: Any) -> Value:
    """The value that `to_json` was given. Fields that this version does not know are passed over, so that rows
    written by a newer version during a rolling upgrade can be read."""
    return _converter.structure(data, kind)


def utc(value: datetime) -> str:
    """ISO 8601, in UTC, to the second."""
    # strftime would cost as much as all the rest of an answer.
    return value.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
