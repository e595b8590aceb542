"""Scoreboard row A2: what somebody does to the rows by SQL, as their owner, is found and named."""

from dataclasses import replace
from uuid import UUID

import pytest

from tenants.audit import sealing
from tenants.audit.anchors import Anchor
from tenants.audit.events import Event
from tenants.audit.verifying import Fault, Report, verify
from tenants.audit.writing import append
from tenants.models import AuditChain, AuditEvent, AuditSegment
from tests.tenants.audit.conftest import events

pytestmark = pytest.mark.django_db


@pytest.fixture
def anchor(chain: UUID) -> Anchor:
    return Anchor.of(AuditChain.objects.get(id=chain))


def faults(report: Report) -> set[tuple[str, int, int]]:
    return {(finding.fault.value, finding.first, finding.last) for finding in report.findings}


def test_what_nobody_touched_is_sound(chain, anchor):
    report = verify(chain, [anchor])
    assert (report.sound, report.events, report.segments) == (True, 9, 3)
    append(chain, events(2))
    assert verify(chain, [anchor]).sound


@pytest.mark.parametrize(
    "column", ["object", "outcome", "address", "actor_id", "text", "at", "detail", "status", "tenant_id", "mac"]
)
def test_an_edited_row_is_altered(chain, anchor, as_owner, world, column):
    others = {"status": 999, "at": "2026-01-01 00:00:00+00:00", "tenant_id": world.stranger.tenant.id}
    value = others.get(column, "f" * 64)
    as_owner(f"UPDATE tenants_auditevent SET {column} = %s WHERE chain = %s AND sequence = 5", value, chain)
    assert ("altered", 5, 5) in faults(verify(chain, [anchor]))


def test_a_row_deleted_from_the_middle_is_missing(chain, anchor, as_owner):
    as_owner("DELETE FROM tenants_auditevent WHERE chain = %s AND sequence = 4", chain)
    assert faults(verify(chain, [anchor])) == {("missing", 4, 4)}


def test_a_segment_deleted_with_its_rows_is_missing(chain, anchor, as_owner):
    as_owner("DELETE FROM tenants_auditevent WHERE chain = %s AND sequence IN (4, 5)", chain)
    as_owner("DELETE FROM tenants_auditsegment WHERE chain = %s AND number = 2", chain)
    assert ("missing", 4, 5) in faults(verify(chain, [anchor]))


def test_rows_that_change_places_are_moved(chain, anchor, as_owner):
    for before, after in ((2, 900), (3, 2), (900, 3)):
        as_owner("UPDATE tenants_auditevent SET sequence = %s WHERE chain = %s AND sequence = %s", after, chain, before)
    assert faults(verify(chain, [anchor])) == {("moved", 2, 2), ("moved", 3, 3)}


def test_an_end_that_is_cut_off_is_named(chain, anchor, as_owner):
    as_owner("DELETE FROM tenants_auditevent WHERE chain = %s AND sequence > 7", chain)
    assert faults(verify(chain)) == {("missing", 8, 9)}


def test_an_end_cut_off_with_its_seal_and_the_chain_set_back_is_named_by_the_anchor(chain, anchor, as_owner):
    before = AuditSegment.objects.get(chain=chain, number=2)
    as_owner("DELETE FROM tenants_auditevent WHERE chain = %s AND sequence > 5", chain)
    as_owner("DELETE FROM tenants_auditsegment WHERE chain = %s AND number > 2", chain)
    as_owner("UPDATE tenants_auditchain SET number = 2, last = 5, mac = %s WHERE id = %s", before.mac, chain)
    assert verify(chain).sound  # the rows alone cannot tell
    assert faults(verify(chain, [anchor])) == {("cut_off", 6, 9)}
    append(chain, events(6))  # and life goes on
    assert ("rewritten", 9, 9) in faults(verify(chain, [anchor]))


def test_a_whole_chain_that_is_gone_is_named(chain, anchor, as_owner):
    for table, column in (("auditevent", "chain"), ("auditsegment", "chain"), ("auditchain", "id")):
        as_owner(f"DELETE FROM tenants_{table} WHERE {column} = %s", chain)
    assert faults(verify(chain, [anchor])) == {("cut_off", 1, 9)}


def rewrite(chain: UUID, as_owner) -> None:
    told = [
        Event(action=row.action, object="something else", at=row.at)
        for row in AuditEvent.objects.filter(chain=chain).order_by("sequence")
    ]
    for table, column in (("auditevent", "chain"), ("auditsegment", "chain"), ("auditchain", "id")):
        as_owner(f"DELETE FROM tenants_{table} WHERE {column} = %s", chain)
    for start, end in ((0, 3), (3, 5), (5, 9)):
        append(chain, told[start:end])


def test_all_rewritten_by_one_without_the_key_is_named(chain, anchor, as_owner, settings):
    right = settings.REFRAIN_AUDIT_KEYS
    settings.REFRAIN_AUDIT_KEYS = {max(right): "another secret"}
    rewrite(chain, as_owner)
    settings.REFRAIN_AUDIT_KEYS = right
    found = faults(verify(chain, [anchor]))
    assert {("altered", number, number) for number in range(1, 10)} <= found
    assert ("rewritten", 9, 9) in found


def test_all_rewritten_by_one_with_the_key_is_named_by_the_anchor(chain, anchor, as_owner):
    rewrite(chain, as_owner)
    assert verify(chain).sound
    assert faults(verify(chain, [anchor])) == {("rewritten", 9, 9)}


def test_a_row_that_was_put_in_is_named(chain, anchor, as_owner):
    columns = [field.column for field in AuditEvent._meta.concrete_fields if field.column not in ("id", "sequence")]
    listed = ", ".join(columns)
    statement = f"INSERT INTO tenants_auditevent (id, sequence, {listed}) SELECT %s, 10, {listed}"
    as_owner(f"{statement} FROM tenants_auditevent WHERE chain = %s AND sequence = 9", UUID(int=7), chain)
    assert ("added", 10, 10) in faults(verify(chain, [anchor]))


def test_an_altered_seal_and_a_false_tombstone_are_named(chain, anchor, as_owner):
    as_owner("UPDATE tenants_auditsegment SET count = 7 WHERE chain = %s AND number = 1", chain)
    assert ("seal_broken", 1, 1) in faults(verify(chain, [anchor]))
    as_owner("DELETE FROM tenants_auditevent WHERE chain = %s AND sequence <= 3", chain)
    mac = AuditSegment.objects.get(chain=chain, number=1).mac
    as_owner("DELETE FROM tenants_auditsegment WHERE chain = %s AND number = 1", chain)
    dropped = "dropped_number = 1, dropped_last = 3, dropped_key = 1, dropped_mac = %s"
    as_owner(f"UPDATE tenants_auditchain SET {dropped} WHERE id = %s", mac, chain)
    assert ("seal_broken", 3, 3) in faults(verify(chain, [anchor]))


def test_an_anchor_that_somebody_wrote_himself_proves_nothing(chain, anchor):
    forged = replace(anchor, last=5).packed()
    assert Anchor.read(forged) is None
    assert Anchor.read(b"{}") is None
    assert Anchor.read(anchor.packed()) == anchor
    assert {finding.fault for finding in verify(chain, [Anchor.read(forged)]).findings} == {Fault.ANCHOR_BROKEN}


def test_keys_are_rotated_and_a_lost_one_is_named(chain, anchor, settings):
    first = settings.REFRAIN_AUDIT_KEYS
    number = max(first)
    settings.REFRAIN_AUDIT_KEYS = {**first, number + 1: "a newer secret"}
    append(chain, events(2))
    assert AuditSegment.objects.get(chain=chain, number=4).key_id == number + 1
    assert verify(chain, [anchor]).sound
    settings.REFRAIN_AUDIT_KEYS = {number + 1: "a newer secret"}
    assert ("unknown_key", 1, 1) in faults(verify(chain))


def test_nothing_sealed_for_one_tenant_stands_for_another(chain, world):
    row = AuditEvent.objects.filter(chain=chain).first()
    own = sealing.row_mac(row, key_id=1)
    row.chain = world.stranger.tenant.id
    assert sealing.row_mac(row, key_id=1) != own
