"""Reads a JSON object of which one member is a long array: that one element by element, the others whole."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import IO, Any

import ijson

from synth.fields import Fields
from tenants.errors import InvalidRequest
from tenants.errors import untranslated as _

MOST_DEPTH = 32
OPENING = frozenset({"start_map", "start_array"})
CLOSING = frozenset({"end_map", "end_array"})
NOT_VALID = _("The body is not valid JSON in UTF-8: %(reason)s.")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a value that is not held: why."""

    code: str
    message: str


TOO_LARGE = Unreadable("too_large", _("This is too large."))
TOO_DEEP = Unreadable("too_deep", _("This is nested too deeply."))
OUT_OF_RANGE = Unreadable("out_of_range", _("A number here is beyond all bounds."))


class Members:
    """One pass over a file: call `others` or `elements`, once. `most` bounds the bytes of each value, roughly.

    Both raise InvalidSpeech for what is not such an object.
    """

    def __init__(self, file: IO[bytes], *, streamed: str, most: int) -> None:
        self._file = file
        self._streamed = streamed
        self._most = most
        self.has_streamed = False

    def others(self) -> dict[str, Any]:
        """The members but the streamed one, which is only looked through."""
        found: dict[str, Any] = {}
        piece = _Piece(self._most)
        for name, depth, event, value in self._tokens():
            if name == self._streamed:
                self._look_through(depth, event)
            elif piece.take(event, value):
                found[name] = piece.value
                piece = _Piece(self._most)
        return found

    def elements(self) -> Iterator[Any]:
        """The elements of the streamed member: values, and Unreadable where one cannot be held."""
        piece = _Piece(self._most)
        for name, depth, event, value in self._tokens():
            if name == self._streamed and depth > 1 and piece.take(event, value):
                yield piece.value
                piece = _Piece(self._most)

    def _look_through(self, depth: int, event: str) -> None:
        if depth == 1 and event not in {"start_array", "end_array"}:
            raise _refusal(self._streamed, "not_a_list", _("This must be a list."))
        self.has_streamed = True

    def _tokens(self) -> Iterator[tuple[str, int, str, Any]]:
        """Each token of a member's value: the member's name, how deep it is (1: the value itself), what it is."""
        depth, name = 0, ""
        for event, value in self._events():
            if depth == 0 and event != "start_map":
                raise _refusal("", "not_an_object", _("The body must be a JSON object."))
            if event in CLOSING:
                depth -= 1
            if depth == 1 and event == "map_key":
                name = value
            elif depth > 0:
                yield name, depth, event, value
            if event in OPENING:
                depth += 1

    def _events(self) -> Iterator[tuple[str, Any]]:
        try:
            yield from ijson.basic_parse(self._file)
        except (ijson.JSONError, ValueError) as error:  # ValueError: a number of thousands of digits
            reason = str(error).partition("\n")[0]
            raise _refusal("", "bad_json", NOT_VALID, reason=reason) from error


class _Piece:
    """One value, put together from its tokens as long as it keeps within bounds."""

    def __init__(self, most: int) -> None:
        self._builder = ijson.ObjectBuilder()
        self._room = most
        self._depth = 0
        self._problem: Unreadable | None = None

    def take(self, event: str, value: Any) -> bool:
        """Whether the value is complete."""
        self._depth += (event in OPENING) - (event in CLOSING)
        self._room -= len(value) + 8 if isinstance(value, str) else 8
        if self._problem is None:
            value = self._checked(value)
        if self._problem is None:
            self._builder.event(event, value)
        return self._depth == 0 and event != "map_key"

    @property
    def value(self) -> Any:
        return self._problem or self._builder.value

    def _checked(self, value: Any) -> Any:
        if self._room < 0 or self._depth > MOST_DEPTH:
            self._give_up(TOO_LARGE if self._room < 0 else TOO_DEEP)
        if isinstance(value, Decimal):
            value = float(value)
            if not isfinite(value):
                self._give_up(OUT_OF_RANGE)
        return value

    def _give_up(self, problem: Unreadable) -> None:
        self._problem = problem
        self._builder = ijson.ObjectBuilder()


def _refusal(name: str, code: str, message: str, **params: Any) -> InvalidRequest:
    problems = Fields({})
    problems.refuse(name, code, message, **params)
    return problems.problem()
