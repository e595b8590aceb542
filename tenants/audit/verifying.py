"""Reads a chain from its beginning to its end, and names every row that is altered, missing, moved or cut off."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from uuid import UUID

from tenants.audit import sealing
from tenants.audit.anchors import Anchor
from tenants.models import AuditChain, AuditEvent, AuditSegment

MOST_FINDINGS = 200
MOST_COMPARED = 50  # rows of one segment, each with each
CHUNK = 1_000


class Fault(StrEnum):
    ALTERED = "altered"
    MISSING = "missing"
    MOVED = "moved"
    ADDED = "added"
    CUT_OFF = "cut_off"
    REWRITTEN = "rewritten"
    SEAL_BROKEN = "seal_broken"
    UNKNOWN_KEY = "unknown_key"
    ANCHOR_BROKEN = "anchor_broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with the events `first` to `last` of a chain."""

    fault: Fault
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.fault}: event {self.first}" + ("" if self.first == self.last else f" to {self.last}")


@dataclass(slots=True)
class Report:
    """What a verification read and found; it ends at MOST_FINDINGS."""

    chain: UUID
    events: int = 0
    segments: int = 0
    anchors: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return not self.findings

    def add(self, fault: Fault, first: int, last: int | None = None) -> None:
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(Finding(fault, first, last or first))


def verify(chain: UUID, anchors: Sequence[Anchor | None] = ()) -> Report:
    """`anchors` are those that were found outside the database; None for one that nothing vouches for.

    What is appended meanwhile is not looked at.
    """
    report = Report(chain, anchors=len(anchors))
    head = AuditChain.objects.filter(id=chain).first() or AuditChain(id=chain)
    _check_tombstone(report, head)
    anchored = {anchor.last for anchor in anchors if anchor}
    ends = {head.dropped_last: head.dropped_mac}
    last, mac = head.dropped_last, head.dropped_mac
    events = _Events(head)
    for segment in _linked(report, head):
        _check_rows(report, segment, events.until(segment.last))
        last, mac = segment.last, segment.mac
        if last in anchored:
            ends[last] = mac
    _check_end(report, head, last, mac)
    _check_anchors(report, head, anchors, ends, last=last)
    return report


class _Events:
    """The rows of a chain in order, read once beside its segments."""

    def __init__(self, head: AuditChain) -> None:
        span = {"sequence__gt": head.dropped_last, "sequence__lte": head.last}
        self._rows = AuditEvent.objects.filter(chain=head.id, **span).order_by("sequence").iterator(CHUNK)
        self._next: AuditEvent | None = next(self._rows, None)

    def until(self, last: int) -> list[AuditEvent]:
        """Those up to this number that were not given yet."""
        taken = []
        while self._next is not None and self._next.sequence <= last:
            taken.append(self._next)
            self._next = next(self._rows, None)
        return taken


def _check_tombstone(report: Report, head: AuditChain) -> None:
    if head.dropped_last:
        _by_key(report, head.dropped_last, lambda: sealing.same(sealing.tombstone_seal(head), head.dropped_seal))


def _by_key(report: Report, at: int, check: Callable[[], bool]) -> None:
    try:
        if not check():
            report.add(Fault.SEAL_BROKEN, at)
    except sealing.UnknownKey:
        report.add(Fault.UNKNOWN_KEY, at)


def _linked(report: Report, head: AuditChain) -> Iterator[AuditSegment]:
    """The segments in order; what the links between them say is reported."""
    expected, previous = head.dropped_last + 1, head.dropped_mac
    found = AuditSegment.objects.filter(chain=head.id, number__lte=max(head.number, 0)).order_by("number")
    for segment in found.iterator(CHUNK):
        report.segments += 1
        _by_key(report, segment.first, lambda segment=segment: sealing.same(sealing.segment_mac(segment), segment.mac))  # type: ignore[misc]
        if segment.first > expected:
            report.add(Fault.MISSING, expected, segment.first - 1)
        elif not sealing.same(segment.previous, previous):
            report.add(Fault.SEAL_BROKEN, segment.first)
        expected, previous = segment.last + 1, segment.mac
        yield segment


def _check_rows(report: Report, segment: AuditSegment, found: Sequence[AuditEvent]) -> None:
    report.events += len(found)
    rows = [row for row in found if row.sequence >= segment.first]
    for row in found[: len(found) - len(rows)]:  # of no segment
        report.add(Fault.ADDED, row.sequence)
    numbers = [segment.first - 1, *(row.sequence for row in rows), segment.last + 1]
    for before, after in pairwise(numbers):
        if after - before > 1:
            report.add(Fault.MISSING, before + 1, after - 1)
    try:
        wrong = [row for row in rows if not sealing.same(sealing.row_mac(row, key_id=segment.key_id), row.mac)]
        for row in wrong:
            report.add(_fault_of(row, wrong, segment.key_id), row.sequence)
    except sealing.UnknownKey:
        return  # said of the segment already
    whole = len(rows) == segment.count and not wrong
    if whole and not sealing.same(sealing.rows_digest(row.mac for row in rows), segment.rows):
        report.add(Fault.SEAL_BROKEN, segment.first, segment.last)


def _fault_of(row: AuditEvent, wrong: Sequence[AuditEvent], key_id: int) -> Fault:
    """Moved, where it is right at the place of another one that is wrong, too."""
    if len(wrong) <= MOST_COMPARED:
        for other in wrong:
            if other is not row and sealing.same(sealing.row_mac(row, key_id=key_id, sequence=other.sequence), row.mac):
                return Fault.MOVED
    return Fault.ALTERED


def _check_end(report: Report, head: AuditChain, last: int, mac: str) -> None:
    if head.last > last:
        report.add(Fault.CUT_OFF, last + 1, head.last)
    elif head.last < last or not sealing.same(head.mac, mac):
        report.add(Fault.REWRITTEN, last)
    rows = AuditEvent.objects.filter(chain=head.id).order_by("sequence").values_list("sequence", flat=True)
    dropped = rows.filter(sequence__lte=head.dropped_last)[:MOST_FINDINGS] if head.dropped_last else ()
    for sequence in (*dropped, *_unsealed(head, rows.filter(sequence__gt=max(last, head.last))[:MOST_FINDINGS])):
        report.add(Fault.ADDED, sequence)


def _unsealed(head: AuditChain, sequences: Iterable[int]) -> list[int]:
    """Those that no segment covers, the ones counted that the writer has added since."""
    beyond = list(sequences)
    newest = AuditChain.objects.filter(id=head.id).first() or head
    later = AuditSegment.objects.filter(chain=head.id, number__gt=head.number, number__lte=newest.number)
    covered = [(one.first, one.last) for one in later]
    return [number for number in beyond if not any(first <= number <= last for first, last in covered)]


def _check_anchors(
    report: Report, head: AuditChain, anchors: Sequence[Anchor | None], ends: dict[int, str], *, last: int
) -> None:
    known = [anchor for anchor in anchors if anchor and anchor.chain == head.id]
    if len(known) < len(anchors):
        report.add(Fault.ANCHOR_BROKEN, head.last)
    newest = AuditChain.objects.filter(id=head.id).first() or head
    beyond = [anchor.last for anchor in known if anchor.last > max(last, newest.last)]
    if beyond:
        report.add(Fault.CUT_OFF, last + 1, max(beyond))
    for anchor in known:
        if head.dropped_last <= anchor.last <= last and not sealing.same(ends.get(anchor.last, ""), anchor.mac):
            report.add(Fault.REWRITTEN, anchor.last)
