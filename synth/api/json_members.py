"""Reads a JSON object of which one member is a long array: that one element by element, the others whole.

Only the outermost commas and brackets are looked for here; every piece between them is orjson's to judge. The streaming
parsers that were tried hold a long string whole or, in C, break the process by a number of 5,000 digits.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import orjson

from synth.errors import InvalidSpeech
from synth.fields import refusal
from tenants.errors import untranslated as _

CHUNK = 2**16
NOT_VALID = _("The body is not valid JSON in UTF-8: %(reason)s.")
TOO_MANY_MARKS = _("The body has more than %(maximum)s brackets, commas and strings.")
# A full batch has 300 for each of its items. To step over 64 MiB of brackets would take minutes.
MOST_MARKS = 3_000_000
_OUTSIDE = re.compile(rb'["\[\]{},]')
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for an element that cannot be had: too large, or no JSON for this reason."""

    reason: str = ""
    is_too_large: bool = False


class Members:
    """One pass over a file: call `others` or `elements`, once. `most` bounds the bytes of each value.

    Both raise InvalidSpeech for what is not such an object.
    """

    def __init__(self, file: IO[bytes], *, streamed: str, most: int) -> None:
        self._file = file
        self._name = re.compile(rb'\s*"' + streamed.encode() + rb'"\s*:\s*')
        self._most = most
        self._has_begun = self._in_string = self._in_escape = False
        self._depth = 0
        self._in_streamed = self._after_streamed = False
        self._is_first, self._has_bracket = True, False
        self._raw, self._is_too_large = bytearray(), False
        self._marks = 0
        self.has_streamed = False

    def others(self) -> dict[str, Any]:
        """The members but the streamed one, which is only looked through."""
        found: dict[str, Any] = {}
        size = 0
        for is_element, raw in self._pieces():
            if not is_element:
                size += len(raw or b"")
                member = _parsed(None if raw is None or size > self._most else b"{%b}" % raw)
                if isinstance(member, Unreadable):
                    raise _not_valid(member.reason or "its members are too large")
                found |= member
        return found

    def elements(self) -> Iterator[Any]:
        """The elements of the streamed member: values, and Unreadable where one cannot be had."""
        for is_element, raw in self._pieces():
            if is_element:
                yield _parsed(raw)

    def _pieces(self) -> Iterator[tuple[bool, bytes | None]]:
        """What stands between the outermost commas: whether it is an element, and its bytes, None for too many."""
        while chunk := self._file.read(CHUNK):
            start = 0
            for at, byte in self._structure(chunk):
                if byte in b"[{":
                    self._depth += 1
                    # Only the first bracket of a piece: to copy what is ahead of each one takes minutes.
                    may_begin, self._has_bracket = not self._has_bracket, True
                    if may_begin and self._begins(byte, chunk[start:at]):
                        start = at + 1
                elif self._depth == (2 if self._in_streamed else 1):
                    self._keep(chunk[start:at])
                    start = at + 1
                    yield from self._ends(byte)
                elif byte != b",":
                    self._depth -= 1
            self._keep(chunk[start:])
        self._refuse_unfinished()

    def _structure(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        """Commas and brackets outside of strings, and where they are."""
        at = self._behind_string(chunk, int(self._in_escape)) if self._in_string else 0
        while found := _OUTSIDE.search(chunk, at):
            at = found.end()
            self._marks += 1
            if self._marks > MOST_MARKS:
                raise refusal("", "too_large", TOO_MANY_MARKS, allowed={"maximum": MOST_MARKS}, maximum=MOST_MARKS)
            if found[0] == b'"':
                at = self._behind_string(chunk, at)
            elif self._depth == 0 and found[0] != b"{":
                raise _not_valid("it is no object, or something follows it") if self._has_begun else _no_object()
            else:
                yield found.start(), found[0]

    def _behind_string(self, chunk: bytes, at: int) -> int:
        """Where the string that goes on at this place ends. The next chunk may go on with it, or with its escape."""
        found = _IN_STRING.match(chunk, at)
        assert found is not None  # noqa: S101 - it matches nothing at all, too
        end = found.end()
        self._in_string = chunk[end : end + 1] != b'"'
        self._in_escape = self._in_string and end < len(chunk)
        return end + 1

    def _begins(self, byte: bytes, ahead: bytes) -> bool:
        """Whether this bracket is where pieces begin: that of the object itself, or of the streamed array."""
        before = bytes(self._raw) + ahead
        if self._depth == 1:
            if self._has_begun or before.strip():
                raise _not_valid("something stands beside the object") if self._has_begun else _no_object()
            self._has_begun = True
        elif self._depth == 2 and byte == b"[" and not self._in_streamed and self._name.fullmatch(before):
            self._in_streamed = self.has_streamed = True
        else:
            return False
        self._is_first, self._has_bracket = True, False
        self._raw.clear()
        return True

    def _ends(self, byte: bytes) -> Iterator[tuple[bool, bytes | None]]:
        """A comma or a bracket ends a piece; a bracket what it is a piece of, too."""
        closes, is_element = byte != b",", self._in_streamed
        raw = None if self._is_too_large else bytes(self._raw)
        is_blank = raw is not None and not raw.strip()
        if self._after_streamed != is_blank and not (is_blank and closes and self._is_first):
            raise _not_valid("a value is missing, or one too many")
        if closes and byte != (b"]" if is_element else b"}"):
            raise _not_valid("a bracket closes another one")
        self._raw, self._is_too_large = bytearray(), False
        self._is_first = self._after_streamed = self._has_bracket = False
        if closes:
            self._depth -= 1
            self._in_streamed, self._after_streamed = False, is_element
        if not is_blank:
            yield is_element, raw

    def _keep(self, part: bytes) -> None:
        if len(self._raw) + len(part) > self._most:
            self._is_too_large = True
            self._raw.clear()
        elif not self._is_too_large:
            self._raw += part

    def _refuse_unfinished(self) -> None:
        if not self._has_begun:
            raise _no_object()
        if self._depth or self._raw.strip() or self._is_too_large:
            raise _not_valid("it is cut off, or something follows it")


def _parsed(raw: bytes | None) -> Any:
    if raw is None:
        return Unreadable(is_too_large=True)
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return Unreadable(str(error))


def _no_object() -> InvalidSpeech:
    return refusal("", "not_an_object", _("The body must be a JSON object."))


def _not_valid(reason: str) -> InvalidSpeech:
    return refusal("", "bad_json", NOT_VALID, reason=reason)
