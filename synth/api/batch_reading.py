"""Reads a batch from the body of a request: onto disk first, then item by item, so that no memory holds the whole.

Called by `batches.py`. A body that cannot be read as what its Content-Type says is refused as a whole.
"""

import csv
import gzip
import io
import tempfile
import zlib
from collections.abc import Generator, Mapping
from hashlib import file_digest
from types import TracebackType
from typing import IO, Any, Self

import orjson
from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from synth.api.csv_lines import NOT_IN_CELLS, line_of, read_columns
from synth.api.json_members import Members, Unreadable
from synth.conf import conf
from synth.fields import Fields, refusal
from synth.service.batches.items import ITEM_FIELDS, Item
from tenants.errors import FieldProblem, UnsupportedMediaType
from tenants.errors import untranslated as _

IN_MEMORY = 2**20
CHUNK = 2**16
# Of one item: more than any that could be good.
MOST_ITEM = 2**20
MOST_LINES = 1_000_000
IN_JSON = frozenset({"metadata", "defaults"})
BOM = b"\xef\xbb\xbf"
CSV_FIELDS = ITEM_FIELDS - NOT_IN_CELLS
# A text that is too long is to be refused by itself, not with the file that it is in.
csv.field_size_limit(MOST_ITEM)


class Upload:
    """A body on disk. `head` is what it says of the whole batch, `items` what there is to speak. Close both."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def head(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """From the query string, whose `metadata` and `defaults` are JSON."""
        return {name: _json(name, value) if name in IN_JSON else value for name, value in query.items()}

    def items(self) -> Generator[Item, None, None]:
        raise NotImplementedError

    def digest(self) -> bytes:
        """SHA-256 of the body as it was unpacked."""
        self.file.seek(0)
        return file_digest(self.file, "sha256").digest()  # type: ignore[arg-type]  # typeshed: IO has readinto

    def rewind(self) -> None:
        """To the beginning, behind a byte order mark."""
        self.file.seek(0)
        if self.file.read(len(BOM)) != BOM:
            self.file.seek(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()


class JsonUpload(Upload):
    """`{"items": […], "callback": …, "metadata": …, "defaults": …}`, in whichever order. A line is an item's place."""

    def head(self, query: Mapping[str, Any]) -> dict[str, Any]:
        asked = Fields(dict(query))
        asked.refuse_unknown(())
        asked.raise_if_wrong()
        self.rewind()
        members = Members(self.file, streamed="items", most=MOST_ITEM)
        found = members.others()
        if found.pop("items", None) is not None:
            raise refusal("items", "not_a_list", _("This must be a list."))
        if not members.has_streamed:
            raise refusal("items", "required", _("This field is required."))
        return found

    def items(self) -> Generator[Item, None, None]:
        self.rewind()
        members = Members(self.file, streamed="items", most=MOST_ITEM)
        for line, value in enumerate(members.elements(), start=1):
            yield _unreadable(line, value) if isinstance(value, Unreadable) else Item(line, value)


class JsonLinesUpload(Upload):
    """One item a line; empty lines count as lines."""

    def items(self) -> Generator[Item, None, None]:
        self.rewind()
        line = 0
        while data := self.file.readline(MOST_ITEM):
            line += 1
            _refuse_lines(line)
            if len(data) == MOST_ITEM and not data.endswith(b"\n"):
                self._skip_line()
                yield _unreadable(line, Unreadable(is_too_large=True))
            elif data.strip():
                yield _json_item(line, data)

    def _skip_line(self) -> None:
        while data := self.file.readline(CHUNK):
            if data.endswith(b"\n"):
                return


class CsvUpload(Upload):
    """The first line names the columns; an empty cell counts as absent. A line is where a row begins in the file."""

    def items(self) -> Generator[Item, None, None]:
        self.rewind()
        lines = _Lines(self.file)
        rows = csv.reader(lines, strict=True)
        try:
            columns = read_columns(next(rows, []), CSV_FIELDS)
            while True:
                line = rows.line_num + 1
                _refuse_lines(line)
                lines.row_begins()
                row = next(rows, None)
                if row is None:
                    return
                if row:
                    yield Item(line, line_of(columns, row))
        except csv.Error as error:
            message = _("The list cannot be read as CSV: line %(line)s, %(reason)s.")
            raise refusal("", "bad_csv", message, line=rows.line_num, reason=str(error)) from error
        except UnicodeDecodeError as error:
            message = _("The list is not in UTF-8: look behind line %(line)s.")
            raise refusal("", "not_utf8", message, line=rows.line_num) from error
        finally:
            lines.let_go()


class _Lines:
    """Lines of text, and no row of them without a bound."""

    def __init__(self, file: IO[bytes]) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        self._read = 0

    def row_begins(self) -> None:
        self._read = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = self._text.readline(MOST_ITEM + 1)
        if not line:
            raise StopIteration
        self._read += len(line)
        if self._read > MOST_ITEM:
            raise csv.Error("a row is too large")
        return line

    def let_go(self) -> None:
        """Of the file, which is not ours to close."""
        self._text.detach()


class _BatchParser(BaseParser):
    upload: type[Upload]

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:  # noqa: ARG002
        request: Request = parser_context["request"]
        return self.upload(_on_disk(stream, request))


class JsonBatch(_BatchParser):
    media_type = "application/json"
    upload = JsonUpload


class NdjsonBatch(_BatchParser):
    media_type = "application/x-ndjson"
    upload = JsonLinesUpload


class JsonlBatch(_BatchParser):
    media_type = "application/jsonl"
    upload = JsonLinesUpload


class CsvBatch(_BatchParser):
    media_type = "text/csv"
    upload = CsvUpload


TOO_LARGE = _("One item takes more than %(maximum)s bytes.")
NO_JSON = _("This is not valid JSON in UTF-8: %(reason)s.")


def _on_disk(stream: Any, request: Request) -> IO[bytes]:
    """The body, unpacked, up to what a batch may have; a small one stays in memory."""
    limit = conf().batch_upload_limit
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > limit:
        raise RequestDataTooBig
    encoding = request.headers.get("Content-Encoding", "identity").lower()
    if encoding not in {"identity", "gzip"}:
        raise UnsupportedMediaType(_("A body may be packed with gzip, and with nothing else."))
    source = gzip.GzipFile(fileobj=stream) if encoding == "gzip" else stream
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - whoever reads it closes it
    try:
        _copy(source, file, limit, expected=int(length) if encoding == "identity" else None)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        file.close()
        raise ParseError from error
    except BaseException:
        file.close()
        raise
    return file


def _copy(source: Any, file: IO[bytes], limit: int, *, expected: int | None) -> None:
    total = 0
    while chunk := source.read(CHUNK):
        total += len(chunk)
        if total > limit:
            raise RequestDataTooBig
        file.write(chunk)
    if expected is not None and total != expected:
        raise EOFError  # the connection broke: half a list is none


def _refuse_lines(number: int) -> None:
    """Empty ones too: nobody reads 64 MiB of them."""
    if number > MOST_LINES:
        message = _("The list has more than %(maximum)s lines.")
        raise refusal("", "too_large", message, allowed={"maximum": MOST_LINES}, maximum=MOST_LINES)


def _json_item(line: int, data: bytes) -> Item:
    try:
        return Item(line, orjson.loads(data))
    except orjson.JSONDecodeError as error:
        return _unreadable(line, Unreadable(str(error)))


def _unreadable(line: int, why: Unreadable) -> Item:
    if why.is_too_large:
        return Item(line, problem=FieldProblem("", "too_large", TOO_LARGE, {"maximum": MOST_ITEM}))
    return Item(line, problem=FieldProblem("", "bad_json", NO_JSON, {"reason": why.reason}))


def _json(name: str, text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise refusal(name, "bad_json", NO_JSON, reason=str(error)) from error
