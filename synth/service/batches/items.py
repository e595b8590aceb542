"""One item of a batch: what it may say, and how it becomes a request. Read at the upload, and again when it is made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth import wiring
from synth.errors import InvalidSpeech
from synth.fields import Fields, in_words, without_nul
from synth.snapshot import Snapshot
from synth.spec import FIELDS, SpeechRequest, read_request
from tenants.errors import FieldProblem
from tenants.errors import untranslated as _

CUSTOM_ID = "custom_id"
SPEECH_FIELDS = FIELDS - {"wait", "delivery", "callback"}
ITEM_FIELDS = SPEECH_FIELDS | {CUSTOM_ID}
DEFAULT_FIELDS = SPEECH_FIELDS - {"text", "metadata"}
MOST_CUSTOM_ID = 128
MOST_DETAIL = 1000


@dataclass(frozen=True, slots=True)
class Item:
    """As it was uploaded. `problem`: what was sent there cannot even be read."""

    line: int
    payload: Any = None
    problem: FieldProblem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadItem:
    """What is stored of it: `payload` is a request's, with the batch's defaults, or what is told of a refusal.

    A refused one has an error.
    """

    line: int
    payload: dict[str, Any]
    error_code: str = ""
    error_detail: str = ""


class ItemReader:
    """Judges the items of one batch, each on its own, by the tenant's settings of now."""

    def __init__(self, snapshot: Snapshot, defaults: Mapping[str, Any]) -> None:
        self._snapshot = snapshot
        self._defaults = defaults
        self._seen: set[str] = set()

    def read(self, item: Item) -> ReadItem:
        if item.problem is not None:
            return _refused(item, item.problem.code, [item.problem])
        try:
            return ReadItem(line=item.line, payload=self._checked(item.payload))
        except InvalidSpeech as refused:
            return _refused(item, refused.code, refused.fields)

    def _checked(self, payload: Any) -> dict[str, Any]:
        fields = Fields(payload)
        fields.refuse_unknown(ITEM_FIELDS)
        custom_id = fields.text(CUSTOM_ID, default="", maximum=MOST_CUSTOM_ID)
        fields.raise_if_wrong()
        if custom_id and custom_id in self._seen:
            fields.refuse(CUSTOM_ID, "not_unique", _("An earlier item of this batch has the same custom_id."))
            fields.raise_if_wrong()
        said = {**self._defaults, **{name: value for name, value in payload.items() if value is not None}}
        request_of(said, self._snapshot)
        self._seen.add(custom_id)
        # The speaker leaves NULs out, of a text as of an instruction; PostgreSQL stores none.
        stored: dict[str, Any] = without_nul(said)
        return stored


def request_of(payload: Mapping[str, Any], snapshot: Snapshot) -> SpeechRequest:
    """The request of a stored item. Raises InvalidSpeech and ServiceUnavailable."""
    said = {name: value for name, value in payload.items() if name != CUSTOM_ID}
    return read_request(said, snapshot, house=wiring.house())


def _told(problem: FieldProblem) -> dict[str, Any]:
    """One wrong field, as the API tells it."""
    body = {"field": problem.field, "code": problem.code, "message": problem.text}
    return body if problem.allowed is None else body | {"allowed": problem.allowed}


def _refused(item: Item, code: str, problems: Sequence[FieldProblem]) -> ReadItem:
    custom_id = item.payload.get(CUSTOM_ID) if isinstance(item.payload, dict) else None
    named = isinstance(custom_id, str) and len(custom_id) <= MOST_CUSTOM_ID
    payload = {CUSTOM_ID: custom_id if named else "", "fields": [_told(problem) for problem in problems]}
    # A misspelt field's name may hold a NUL.
    return ReadItem(
        line=item.line,
        payload=without_nul(payload),
        error_code=code,
        error_detail=without_nul(in_words(problems))[:MOST_DETAIL],
    )
