"""Rows of CSV as the JSON of speech requests, for lists to warm and for batches."""

from collections.abc import Collection
from typing import Any

import orjson

from synth.fields import Fields
from tenants.errors import untranslated as _

# Fields whose value is no cell's.
NOT_IN_CELLS = frozenset({"emotion", "pronunciations", "metadata"})
NUMBERS = frozenset({"speed", "duration", "seed", "sample_rate", "bitrate"})


def read_columns(row: list[str], known: Collection[str]) -> list[str]:
    """The names in the first line. Raises InvalidSpeech."""
    columns = [name.strip() for name in row]
    fields = Fields(dict.fromkeys(columns))
    fields.refuse_unknown(known)
    if "text" not in columns:
        fields.refuse("text", "required", _("The first line must name the columns, text among them."))
    if len(set(columns)) != len(columns):
        fields.refuse("", "column_twice", _("A column is named twice."))
    fields.raise_if_wrong()
    return columns


def line_of(columns: list[str], row: list[str]) -> Any:
    """A line as the JSON of a speech request; one with too many cells stays a list, and is refused as such."""
    if len(row) > len(columns):
        return [cell.replace("\0", "") for cell in row]
    cells = {name: cell.replace("\0", "") for name, cell in zip(columns, row, strict=False) if cell.strip()}
    return {name: _number(cell) if name in NUMBERS else cell for name, cell in cells.items()}


def _number(cell: str) -> Any:
    """A number where it is one; what is none is refused with its line."""
    try:
        return int(cell)
    except ValueError:
        pass
    try:
        return orjson.loads(cell.strip())
    except orjson.JSONDecodeError:
        return cell
