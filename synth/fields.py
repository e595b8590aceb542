"""Reads the fields of a JSON body and gathers what is wrong with them."""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson
from django.utils.dateparse import parse_datetime

from synth.errors import InvalidSpeech
from tenants.errors import FieldProblem
from tenants.errors import untranslated as _

Choice = TypeVar("Choice")
# A body has room for a hundred thousand fields; the answer should not.
MAX_UNKNOWN_TOLD = 20
# An escaped NUL in JSON, and not an escaped backslash before the letters: PostgreSQL stores no NUL.
NUL_IN_JSON = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class Fields:
    """A null counts as absent. After a refusal the readers go on with the default, so that one answer tells all."""

    def __init__(self, payload: Any, *, within: str = "", problems: list[FieldProblem] | None = None) -> None:
        self._problems = [] if problems is None else problems
        self._within = within
        self._payload: dict[str, Any] = payload if isinstance(payload, dict) else {}
        if not isinstance(payload, dict):
            self.refuse("", "not_an_object", _("The body must be a JSON object."))
            self.raise_if_wrong()

    def inner(self, name: str, payload: dict[str, Any]) -> "Fields":
        """The fields of an object within this one: what is wrong there is told in the same answer."""
        return Fields(payload, within=f"{self._within}{name}.", problems=self._problems)

    def refuse(self, name: str, code: str, message: str, *, allowed: Any = None, **params: Any) -> None:
        self._problems.append(FieldProblem(self._within + name, code, message, params, allowed))

    @property
    def refused(self) -> bool:
        """Whether anything in this object was refused so far."""
        return any(problem.field.startswith(self._within) for problem in self._problems)

    def refuse_unknown(self, known: Collection[str]) -> None:
        for name in sorted(self._payload.keys() - set(known))[:MAX_UNKNOWN_TOLD]:
            self.refuse(name[:64], "unknown_field", _("There is no such field."), allowed=sorted(known))

    def problem(self) -> InvalidSpeech:
        """The gathered problems as one; a single one lends its code and its sentence."""
        fields = tuple(self._problems)
        if len(fields) == 1:
            return InvalidSpeech(fields[0].message, code=fields[0].code, params=fields[0].params, fields=fields)
        return InvalidSpeech(fields=fields)

    def raise_if_wrong(self) -> None:
        if self._problems:
            raise self.problem()

    def given(self, name: str) -> bool:
        return self._payload.get(name) is not None

    def value(self, name: str) -> Any:
        return self._payload.get(name)

    def text(self, name: str, *, maximum: int, default: str | None = None, controls: bool = False) -> str:
        """A string; without a default it must be there. `controls`: the caller takes control characters out itself."""
        value = self._payload.get(name)
        if value is None:
            if default is None:
                self.refuse(name, "required", _("This field is required."))
            return default or ""
        if not isinstance(value, str):
            self.refuse(name, "not_a_string", _("This must be a string."))
        elif len(value) > maximum:
            message = _("This has %(length)s characters; at most %(maximum)s are allowed.")
            self.refuse(name, "too_long", message, length=len(value), maximum=maximum, allowed={"maximum": maximum})
        elif "\0" in value and not controls:
            self.refuse(name, "not_allowed", _("This holds a NUL character."))
        else:
            return value
        return default or ""

    def number(self, name: str, *, default: float, minimum: float, maximum: float) -> float:
        value = self._payload.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.refuse(name, "not_a_number", _("This must be a number."))
        elif not minimum <= value <= maximum:
            message = _("This must be from %(minimum)s to %(maximum)s.")
            bounds = {"minimum": minimum, "maximum": maximum}
            self.refuse(name, "out_of_range", message, allowed=bounds, **bounds)
        else:
            return float(value)
        return default

    def flag(self, name: str) -> bool | None:
        value = self._payload.get(name)
        if value is not None and not isinstance(value, bool):
            self.refuse(name, "not_a_boolean", _("This must be true or false."))
            return None
        return value

    def integer(self, name: str, *, minimum: int, maximum: int) -> int | None:
        value = self._payload.get(name)
        if value is None:
            return None
        value = _whole(value)
        if not isinstance(value, int):
            self.refuse(name, "not_an_integer", _("This must be a whole number."))
        elif not minimum <= value <= maximum:
            message = _("This must be from %(minimum)s to %(maximum)s.")
            bounds = {"minimum": minimum, "maximum": maximum}
            self.refuse(name, "out_of_range", message, allowed=bounds, **bounds)
        else:
            return value
        return None

    def choice(self, name: str, allowed: Sequence[str], *, default: str) -> str:
        return self._one_of(name, allowed, default=default, kind=str)

    def integer_choice(self, name: str, allowed: Sequence[int], *, default: int | None) -> int:
        return self._one_of(name, allowed, default=allowed[0] if default is None else default, kind=int)

    def json_object(self, name: str, *, maximum_bytes: int) -> dict[str, Any]:
        value = self._payload.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.refuse(name, "not_an_object", _("This must be a JSON object."))
            return {}
        try:
            encoded = orjson.dumps(value)
        except orjson.JSONEncodeError:
            self.refuse(name, "too_deep", _("This is nested too deeply."))
            return {}
        if len(encoded) > maximum_bytes:
            message = _("This is larger than %(maximum)s bytes.")
            self.refuse(name, "too_large", message, allowed={"maximum": maximum_bytes}, maximum=maximum_bytes)
        elif NUL_IN_JSON.search(encoded):
            self.refuse(name, "not_allowed", _("This holds a NUL character."))
        return value

    def _one_of(self, name: str, allowed: Sequence[Choice], *, default: Choice, kind: type[Any]) -> Choice:
        value: Any = self._payload.get(name)
        if value is None:
            return default
        value = _whole(value) if kind is int else value
        if type(value) is kind and value in allowed:
            found: Choice = value
            return found
        message = _("This must be one of: %(choices)s.")
        choices = ", ".join(str(item) for item in allowed)
        self.refuse(name, "not_allowed", message, allowed=list(allowed), choices=choices)
        return default


def refusal(name: str, code: str, message: str, *, allowed: Any = None, **params: Any) -> InvalidSpeech:
    """For one thing that is wrong, in this field."""
    problems = Fields({})
    problems.refuse(name, code, message, allowed=allowed, **params)
    return problems.problem()


def in_words(problems: Iterable[FieldProblem]) -> str:
    """For a row that keeps what was wrong."""
    return "; ".join(f"{problem.field}: {problem.text}" for problem in problems)


def without_nul(value: Any) -> Any:
    """PostgreSQL stores no NUL; in a text it would be left out when it is spoken."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, list):
        return [without_nul(item) for item in value]
    if isinstance(value, dict):
        return {without_nul(name): without_nul(item) for name, item in value.items()}
    return value


def moment_of(text: str) -> datetime | None:
    """A time in ISO 8601 with its offset from UTC, in UTC; None for all else."""
    try:
        moment = parse_datetime(text)
        return moment.astimezone(UTC) if moment is not None and moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _whole(value: Any) -> Any:
    """JSON knows one kind of number: 1.0 is a whole one. True is none; no caller takes it for one."""
    if isinstance(value, bool):
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value
