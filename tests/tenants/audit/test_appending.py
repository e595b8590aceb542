"""Events are written once, in order, sealed; nobody changes them; retention drops segments whole."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import Error, connection, transaction
from django.utils import timezone

from tenants import service
from tenants.audit.anchors import Anchor
from tenants.audit.events import Event
from tenants.audit.retention import drop_old
from tenants.audit.verifying import verify
from tenants.audit.writing import append, append_notes, finish, note
from tenants.models import AuditChain, AuditEvent, AuditNote, AuditSegment
from tenants.models.audit import PLATFORM, AppendOnly
from tests.tenants.audit.conftest import events

pytestmark = pytest.mark.django_db


def test_what_is_brought_twice_is_written_once(world):
    chain, brought = world.owner.tenant.id, events(3)
    assert [append(chain, brought), append(chain, [*brought, brought[0], *events(1)])] == [3, 1]
    assert list(AuditEvent.objects.order_by("sequence").values_list("sequence", flat=True)) == [1, 2, 3, 4]
    assert append(chain, brought) == 0
    assert AuditSegment.objects.count() == 2


def test_tenants_have_chains_of_their_own(world):
    append(world.owner.tenant.id, events(2))
    append(world.stranger.tenant.id, events(1))
    append(PLATFORM, events(1))
    told = AuditEvent.objects.order_by("sequence").values_list("tenant_id", "sequence")
    owner, stranger = world.owner.tenant.id, world.stranger.tenant.id
    assert set(told) == {(owner, 1), (owner, 2), (stranger, 1), (None, 1)}
    assert all(verify(chain).sound for chain in (owner, stranger, PLATFORM))


def test_what_callers_send_fits_its_columns(world):
    odd = Event(action="GET ?", object="\0" + "\ud800" + "x" * 500, address="a" * 99, text="天气\0")
    append(world.owner.tenant.id, [Event.unpacked(odd.packed())])
    row = AuditEvent.objects.get()
    assert (len(row.object), row.text, len(row.address)) == (200, "天气", 64)
    assert verify(world.owner.tenant.id).sound


def test_code_refuses_to_change_or_delete(chain):
    row, segment = AuditEvent.objects.first(), AuditSegment.objects.first()
    for act in (
        row.save,
        row.delete,
        segment.save,
        segment.delete,
        AuditEvent.objects.all().delete,
        lambda: AuditEvent.objects.update(outcome="x"),
        lambda: AuditSegment.objects.filter(chain=chain).update(count=1),
        lambda: AuditEvent.objects.bulk_update([row], ["outcome"]),
    ):
        with pytest.raises(AppendOnly):
            act()


@pytest.mark.parametrize("statement", ["UPDATE {} SET chain = chain", "DELETE FROM {}"])
@pytest.mark.parametrize("table", ["tenants_auditevent", "tenants_auditsegment"])
def test_postgresql_refuses_it_too(chain, statement, table):
    if connection.vendor != "postgresql":
        pytest.skip("the trigger is PostgreSQL's")
    with pytest.raises(Error, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(table))


def test_a_note_is_written_with_what_it_tells_of_or_not_at_all(world):
    with transaction.atomic():
        note(world.owner.tenant.id, events(1)[0])
        transaction.set_rollback(True)
    note(world.owner.tenant.id, events(1)[0])
    assert append_notes() == 1
    assert (AuditEvent.objects.count(), AuditNote.objects.count()) == (1, 0)


def test_what_was_begun_waits_for_its_end_but_not_for_ever(world):
    begun = Event(action="POST admin:x", outcome="begun")
    note(PLATFORM, begun, unfinished=True)
    assert append_notes() == 0
    finish(world.owner.tenant.id, Event(id=begun.id, action="POST admin:x"))
    append_notes()
    assert AuditEvent.objects.get().outcome == "ok"
    died = Event(action="POST admin:x", outcome="begun")
    note(PLATFORM, died, unfinished=True)
    AuditNote.objects.update(open_until=timezone.now() - timedelta(seconds=1))
    append_notes()
    assert AuditEvent.objects.get(id=died.id).outcome == "begun"


def aged(chain: UUID, days: int, count: int) -> None:
    at = timezone.now() - timedelta(days=days)
    append(chain, [Event(action="GET /v1/voices", at=at) for _ in range(count)])


def test_retention_drops_segments_whole_and_the_rest_verifies(world, settings):
    chain = world.owner.tenant.id
    for days, count in ((40, 3), (35, 2), (5, 4)):
        aged(chain, days, count)
    first = Anchor.of(AuditChain.objects.get(id=chain))
    settings.REFRAIN_AUDIT_DAYS = 0
    assert drop_old() == 0
    service.keep_audit(world.owner.tenant, text="none", days=30)
    assert drop_old() == 5
    assert list(AuditEvent.objects.order_by("sequence").values_list("sequence", flat=True)) == [6, 7, 8, 9]
    assert AuditSegment.objects.count() == 1
    aged(chain, 0, 1)
    assert verify(chain, [first]).sound
    service.keep_audit(world.owner.tenant, text="none", days=1)
    assert drop_old() == 4
    assert verify(chain, [first]).sound
    assert AuditChain.objects.get(id=chain).dropped_last == 9


def test_a_segment_with_something_newer_stays(world):
    chain = world.owner.tenant.id
    old = Event(action="GET /v1/voices", at=timezone.now() - timedelta(days=900))
    append(chain, [old, *events(1)])
    assert drop_old() == 0
    assert AuditEvent.objects.count() == 2
