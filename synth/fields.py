"""Reads the fields of a JSON body and gathers what is wrong with them. Used by spec.py and controls.py."""

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

import orjson

from synth.errors import InvalidSpeech
from tenants.errors import FieldProblem

Choice = TypeVar("Choice")


class Fields:
    """A null counts as absent. After a refusal the readers go on with the default, so that one answer tells all."""

    def __init__(self, payload: Any) -> None:
        self._problems: list[FieldProblem] = []
        if not isinstance(payload, dict):
            self._payload: dict[str, Any] = {}
            self.refuse("", "not_an_object", "The body must be a JSON object.")
            self.raise_if_wrong()
        self._payload = payload

    def refuse(self, name: str, code: str, message: str, *, allowed: Any = None, **params: Any) -> None:
        self._problems.append(FieldProblem(name, code, message, params, allowed))

    def refuse_unknown(self, known: Collection[str]) -> None:
        for name in sorted(set(self._payload) - set(known)):
            self.refuse(name[:64], "unknown_field", "There is no such field.", allowed=sorted(known))

    def problem(self) -> InvalidSpeech:
        """The gathered problems as one; a single one lends its code."""
        only = self._problems[0] if len(self._problems) == 1 else None
        code = only.code if only else None
        return InvalidSpeech(code=code, fields=tuple(self._problems))

    def raise_if_wrong(self) -> None:
        if self._problems:
            raise self.problem()

    def given(self, name: str) -> bool:
        return self._payload.get(name) is not None

    def value(self, name: str) -> Any:
        return self._payload.get(name)

    def text(self, name: str, *, maximum: int, default: str | None = None) -> str:
        """A string; without a default it must be there."""
        value = self._payload.get(name)
        if value is None:
            if default is None:
                self.refuse(name, "required", "This field is required.")
            return default or ""
        if not isinstance(value, str):
            self.refuse(name, "not_a_string", "This must be a string.")
        elif len(value) > maximum:
            message = "This has %(length)s characters; at most %(maximum)s are allowed."
            self.refuse(name, "too_long", message, length=len(value), maximum=maximum, allowed={"maximum": maximum})
        else:
            return value
        return default or ""

    def number(self, name: str, *, default: float, minimum: float, maximum: float) -> float:
        value = self._payload.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.refuse(name, "not_a_number", "This must be a number.")
        elif not minimum <= value <= maximum:
            message = "This must be from %(minimum)s to %(maximum)s."
            bounds = {"minimum": minimum, "maximum": maximum}
            self.refuse(name, "out_of_range", message, allowed=bounds, **bounds)
        else:
            return float(value)
        return default

    def integer(self, name: str, *, minimum: int, maximum: int) -> int | None:
        value = self._payload.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse(name, "not_an_integer", "This must be a whole number.")
        elif not minimum <= value <= maximum:
            message = "This must be from %(minimum)s to %(maximum)s."
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
            self.refuse(name, "not_an_object", "This must be a JSON object.")
            return {}
        if len(orjson.dumps(value)) > maximum_bytes:
            message = "This is larger than %(maximum)s bytes."
            self.refuse(name, "too_large", message, maximum=maximum_bytes)
        return value

    def _one_of(self, name: str, allowed: Sequence[Choice], *, default: Choice, kind: type[Any]) -> Choice:
        value: Any = self._payload.get(name)
        if value is None:
            return default
        if type(value) is kind and value in allowed:
            found: Choice = value
            return found
        message = "This must be one of: %(allowed)s."
        names = [str(item) for item in allowed]
        self._problems.append(FieldProblem(name, "not_allowed", message, {"allowed": ", ".join(names)}, list(allowed)))
        return default
