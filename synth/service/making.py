"""Has sounds made for batches, refreshes, warmings and changes of a model: line by line, a few at a time.

The line's row is the truth: it names the job before that exists, so a worker that dies loses none and doubles none.
"""

from contextlib import suppress
from dataclasses import replace
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from synth import wiring
from synth.errors import InvalidSpeech, ServiceUnavailable, SpeechFailed
from synth.fields import Fields, in_words
from synth.keys import rendition_key
from synth.models import CurationAction, CurationBlock, CurationLine, Entry, Job
from synth.models.states import ENDED, OPEN, Priority, State
from synth.service.accounting import record_restored
from synth.service.admission import charge_line
from synth.service.batches.items import MOST_DETAIL, request_of
from synth.service.catalogue import fresh_rendition
from synth.service.endings import cancel_job
from synth.service.made_already import note_made
from synth.service.model_change import as_spoken_now, carry_pin, rank
from synth.service.progress import end_action, end_line, end_line_as
from synth.service.selection import Selection
from synth.service.submission import MadeMeanwhile, submit
from synth.snapshot import Snapshot, load
from synth.spec import FIELDS, SpeechRequest, read_request
from synth.stored import of_entry, spec_of
from synth.types import CacheMode
from tenants.encryption import EncryptionKeyRefused, EncryptionKeyRequired, is_own
from tenants.errors import NotFound
from tenants.ids import new_id
from tenants.keys import NOBODY
from tenants.quotas import QuotaExceeded
from tenants.types import Caller, TenantRef

Kind = CurationAction.Kind
Outcome = CurationLine.Outcome
# Of one action: what may be open at a time, what one portion begins, and entries that become lines at a time.
MOST_OPEN = 50
MOST_OPEN_OF_BATCH = 200
PORTION = 20
EXPANDED = 200
# A refresh of so few is somebody who waits for it.
SMALL = 10
LINE_FIELDS = FIELDS - {"cache", "wait", "delivery", "metadata", "callback"}


class LineFailed(Exception):  # noqa: N818
    """The line cannot be made, for a reason that its owner can read."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail


def make_portion(action: CurationAction) -> bool:
    """Note what has ended and begin the next lines; whether more could be begun at once."""
    action.refresh_from_db()
    if action.state not in OPEN:
        return False
    portion = _Portion(action)
    if action.kind == Kind.MODEL_CHANGE:
        rank(action)
    more = _expand(action)
    portion.settle()
    room = portion.most_open - _lines(action, Outcome.OPEN).count()
    begun = [portion.begin(line) for line in _lines(action, Outcome.WAITING)[: min(room, PORTION)]]
    unfinished = (
        more or CurationLine.objects.filter(action=action, outcome__in=(Outcome.OPEN, Outcome.WAITING)).exists()
    )
    if unfinished:
        CurationAction.objects.filter(id=action.id, state=State.QUEUED).update(state=State.RUNNING)
    else:
        end_action(action, State.SUCCEEDED)
    return unfinished and room > 0 and all(begun) and bool(begun or more)


def next_entries(action: CurationAction, limit: int) -> dict[UUID, list[UUID]]:
    """The entries after the action's cursor, by tenant."""
    tenant = TenantRef(action.tenant_id) if action.tenant_id else None
    rows = Selection.from_json(action.selection).rows(tenant)
    rows = rows.filter(kind=Entry.Kind.RENDITION) if action.kind == Kind.REFRESH else rows
    rows = rows.filter(id__gt=action.cursor) if action.cursor else rows
    found: dict[UUID, list[UUID]] = {}
    for entry_id, tenant_id in rows.values_list("id", "tenant_id")[:limit]:
        found.setdefault(tenant_id, []).append(entry_id)
    return found


class _Portion:
    """The lines that one call deals with; reads each tenant's settings once."""

    def __init__(self, action: CurationAction) -> None:
        self._action = action
        self._snapshots: dict[UUID, Snapshot | None] = {}
        self._is_ours = action.kind == Kind.MODEL_CHANGE
        self._is_batch = action.kind == Kind.BATCH
        self.most_open = MOST_OPEN_OF_BATCH if self._is_batch else MOST_OPEN
        small = action.kind == Kind.REFRESH and action.matched <= SMALL
        self._priority = Priority.BATCH if small or self._is_batch else Priority.REWARM

    def settle(self) -> None:
        """Note which jobs have ended, and how. A line without a job lost its worker just before that."""
        lines = list(_lines(self._action, Outcome.OPEN)[: self.most_open])
        jobs = Job.objects.select_related("rendering").in_bulk([line.job_id for line in lines if line.job_id])
        for line in lines:
            job = jobs.get(line.job_id) if line.job_id else None
            if job is None:
                with suppress(ServiceUnavailable):  # no engine has told of itself yet
                    self._submit(line)
            elif job.state in ENDED:
                if job.state == State.SUCCEEDED:
                    self._keep_pin(line, job.rendering.entry_id)
                end_line_as(self._action, line, job)

    def begin(self, line: CurationLine) -> bool:
        """False when nothing can be made at present."""
        line.job_id = new_id()
        waiting = CurationLine.objects.filter(id=line.id, outcome=Outcome.WAITING, action__state__in=OPEN)
        if not waiting.update(outcome=Outcome.OPEN, job_id=line.job_id):
            return True
        try:
            self._submit(line)
        except ServiceUnavailable:  # no engine has told of itself yet
            CurationLine.objects.filter(id=line.id, outcome=Outcome.OPEN).update(outcome=Outcome.WAITING, job_id=None)
            return False
        return True

    def _submit(self, line: CurationLine) -> None:
        try:
            self._queue(line)
        except LineFailed as failed:
            self._fail(line, failed.code, failed.detail)
        except (EncryptionKeyRequired, EncryptionKeyRefused) as refused:
            self._fail(line, refused.code)
        except InvalidSpeech as refused:
            self._fail(line, refused.code, in_words(refused.fields))
        except SpeechFailed as failure:
            self._fail(line, failure.code)
        except QuotaExceeded as refused:
            self._fail(line, refused.code, str(refused))
        except IntegrityError:  # another worker has queued this very line
            pass

    def _fail(self, line: CurationLine, code: str, detail: str = "") -> None:
        end_line(self._action, line, Outcome.FAILED, error_code=code, error_detail=detail[:MOST_DETAIL])

    def _queue(self, line: CurationLine) -> None:
        snapshot = self._snapshot(line.tenant_id)
        request = self._request(line, snapshot)
        caller = _caller(self._action, snapshot)
        key = rendition_key(request.spec)
        retention = snapshot.retention_of(request.spec, request.category)
        if not retention.store and not self._is_batch:
            raise LineFailed("never_cached")
        entry = None
        if request.cache is CacheMode.USE and retention.store:
            entry = fresh_rendition(snapshot.tenant, key, max_age=retention.max_age)
        if not self._is_ours and (entry is None or self._is_batch):
            charge_line(caller, snapshot, characters=request.characters, mark=str(line.job_id))
        try:
            if entry is None:
                submit(
                    caller,
                    self._marked(line, request),
                    key=key,
                    max_units=snapshot.cards[request.spec.manner.engine].max_units,
                    request_id=self._action.request_id,
                    priority=self._priority,
                    retention=retention,
                    job_id=line.job_id,
                    accounted=self._is_ours,  # no tenant asked for it
                    quotas=None if self._is_ours else snapshot.quotas,
                )
                self._cancel_if_canceled(line)
        except MadeMeanwhile as made:
            entry = made.entry
        if entry is not None:
            self._take(line, entry, caller=caller, request=request)

    def _marked(self, line: CurationLine, request: SpeechRequest) -> SpeechRequest:
        """As the job keeps it: nobody waits, and it tells where it comes from."""
        mark = {"batch" if self._is_batch else "action": self._action.public_id, "line": line.number}
        return replace(request, wait=0, metadata={**request.metadata, **mark})

    def _take(self, line: CurationLine, entry: Entry, *, caller: Caller, request: SpeechRequest) -> None:
        """What is there already. An item of a batch is a request that was answered from the cache."""
        self._keep_pin(line, entry.id)
        with transaction.atomic():
            ended = end_line(self._action, line, Outcome.CACHED, entry_id=entry.id)
            if ended and self._is_batch:
                note_made(
                    caller,
                    self._marked(line, request),
                    entry,
                    request_id=self._action.request_id,
                    job_id=line.job_id,
                    priority=self._priority,
                )
                record_restored(caller, request, of_entry(entry), outcome="hit", request_id="")

    def _cancel_if_canceled(self, line: CurationLine) -> None:
        """The action may have been canceled between the line and its job."""
        if not CurationLine.objects.filter(id=line.id, outcome=Outcome.OPEN).exists():
            assert line.job_id is not None  # noqa: S101 - it was begun
            cancel_job(TenantRef(line.tenant_id), line.job_id)

    def _request(self, line: CurationLine, snapshot: Snapshot) -> SpeechRequest:
        if self._is_ours:
            request, code = as_spoken_now(_entry_of(line), snapshot)
            if request is None:
                raise LineFailed(code)
            return request
        if self._is_batch:
            return request_of(line.payload or {}, snapshot)
        return _to_refresh(line, snapshot) if line.entry_id else _to_warm(line, snapshot)

    def _keep_pin(self, line: CurationLine, entry_id: UUID | None) -> None:
        if self._is_ours:
            carry_pin(TenantRef(line.tenant_id), line.entry_id, entry_id)

    def _snapshot(self, tenant_id: UUID) -> Snapshot:
        if tenant_id not in self._snapshots:
            self._snapshots[tenant_id] = load(tenant_id)
        found = self._snapshots[tenant_id]
        if found is None:
            raise NotFound
        return found


def _caller(action: CurationAction, snapshot: Snapshot) -> Caller:
    key_id = action.api_key_id or NOBODY.id
    record = next((record for record in snapshot.keys.values() if record.id == key_id), NOBODY)
    return Caller(snapshot.tenant, key_id, frozenset(), quotas=record.quotas)


def _to_warm(line: CurationLine, snapshot: Snapshot) -> SpeechRequest:
    fields = Fields(line.payload)
    fields.refuse_unknown(LINE_FIELDS)
    fields.raise_if_wrong()
    return read_request(line.payload, snapshot, house=wiring.house())


def _to_refresh(line: CurationLine, snapshot: Snapshot) -> SpeechRequest:
    entry = _entry_of(line)
    spec = spec_of(entry)
    card = snapshot.cards.get(spec.manner.engine)
    if card is None or card.model_version != spec.manner.model_version:
        raise LineFailed("engine_version_gone")
    return SpeechRequest(spec=spec, cache=CacheMode.REFRESH, category=entry.category)


def _entry_of(line: CurationLine) -> Entry:
    entry = Entry.objects.filter(tenant_id=line.tenant_id, id__in=[line.entry_id]).first()
    if entry is None or entry.spec is None:
        raise LineFailed("purged")
    if is_own(entry.sealed_by):
        raise LineFailed(EncryptionKeyRequired.code)
    return entry


def _expand(action: CurationAction) -> bool:
    """Make lines of the next entries or of the next block, when few are left; whether there are more."""
    if _lines(action, Outcome.WAITING).count() >= PORTION:
        return True
    return _expand_entries(action) if action.kind == Kind.REFRESH else _expand_block(action)


def _expand_block(action: CurationAction) -> bool:
    block = CurationBlock.objects.filter(action=action).order_by("first").first()
    if block is None or action.tenant_id is None:
        return False
    tenant_id = action.tenant_id
    with transaction.atomic():
        if CurationBlock.objects.filter(id=block.id, action__state__in=OPEN).delete()[0]:
            CurationLine.objects.bulk_create(
                CurationLine(action=action, number=number, tenant_id=tenant_id, payload=payload)
                for number, payload in enumerate(block.lines, start=block.first)
            )
    return True


def _expand_entries(action: CurationAction) -> bool:
    found = next_entries(action, EXPANDED)
    if not found:
        return False
    unfinished = CurationLine.objects.filter(action=action, outcome__in=(Outcome.OPEN, Outcome.WAITING)).count()
    number = action.done + action.cached + action.failed + unfinished
    pairs = sorted((entry_id, tenant_id) for tenant_id, ids in found.items() for entry_id in ids)
    with transaction.atomic():
        here = CurationAction.objects.filter(id=action.id, state__in=OPEN, cursor=action.cursor)
        if here.update(cursor=pairs[-1][0]):
            CurationLine.objects.bulk_create(
                CurationLine(action=action, number=number + at, tenant_id=tenant_id, entry_id=entry_id)
                for at, (entry_id, tenant_id) in enumerate(pairs, start=1)
            )
    return True


def _lines(action: CurationAction, outcome: str) -> QuerySet[CurationLine]:
    return CurationLine.objects.filter(action=action, outcome=outcome).order_by("number")
