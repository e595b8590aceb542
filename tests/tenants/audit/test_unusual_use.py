"""Unusual use is flagged, once an hour of each kind, and what is usual is not."""

from datetime import UTC, datetime, timedelta

import pytest

from tenants.audit.events import Event
from tenants.audit.watching import Thresholds, watch
from tenants.audit.writing import append, append_notes
from tenants.models import AuditEvent, AuditFlag, KnownAddress
from tests.world import World, world  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
THRESHOLDS = Thresholds(new_addresses=4, burst_factor=5, burst_least=20, missing_ids=6, refusals=8)


class Actor:
    """Makes events of the owner's key in the minute before `at`, and has the watch look."""

    def __init__(self, world: World) -> None:  # noqa: F811
        self.tenant, self.key_id = world.owner.tenant, str(world.owner.key.id)

    def acts(self, at: datetime, count: int = 1, **told: object) -> None:
        said = {"actor_kind": "key", "actor_id": self.key_id, "address": "192.0.2.1", **told}
        append(self.tenant.id, [Event(action="GET /v1/voices", at=at - MINUTE / 2, **said) for _ in range(count)])

    def flags(self, at: datetime, thresholds: Thresholds = THRESHOLDS) -> list[str]:
        return [flag.kind for flag in watch(thresholds, now=at + timedelta(seconds=20))]


@pytest.fixture
def actor(world: World) -> Actor:  # noqa: F811
    return Actor(world)


def test_calm_use_is_not_flagged(actor: Actor):
    for number in range(5):
        actor.acts(NOON + number * MINUTE, 3, status=404 if number == 2 else 200, object="vox_1")
        assert actor.flags(NOON + number * MINUTE) == []


def test_many_new_addresses(actor: Actor):
    for number in range(3):
        actor.acts(NOON, address=f"192.0.2.{number}")
    assert actor.flags(NOON) == []
    for number in range(3):
        actor.acts(NOON + MINUTE, address=f"2001:db8:0:{number}::1")
        actor.acts(NOON + MINUTE, address=f"2001:db8:0:{number}::2")  # of the same network
    assert actor.flags(NOON + MINUTE) == ["new_addresses"]
    assert KnownAddress.objects.count() == 6
    later = NOON + timedelta(hours=3)
    for number in range(3):
        actor.acts(later, address=f"192.0.2.{number}")
    assert actor.flags(later) == []


def test_a_burst_over_its_own_pace(actor: Actor):
    for number in range(35):
        actor.acts(NOON + number * MINUTE, 4)
        assert actor.flags(NOON + number * MINUTE) == []
    at = NOON + 35 * MINUTE
    actor.acts(at, 30)
    assert actor.flags(at) == ["burst"]
    assert AuditFlag.objects.get().numbers == {"events": 30, "usual": 4.0}


def test_who_is_always_fast_is_no_burst_and_a_new_key_is_not_judged(actor: Actor):
    actor.acts(NOON, 40)
    assert actor.flags(NOON) == []
    for number in range(1, 35):
        actor.acts(NOON + number * MINUTE, 40)
        assert actor.flags(NOON + number * MINUTE) == []


def test_a_scan_of_missing_ids(actor: Actor):
    actor.acts(NOON, 10, status=404, object="job_1")  # one id, asked for again and again
    assert actor.flags(NOON) == []
    for number in range(6):
        actor.acts(NOON + MINUTE, status=404, object=f"job_{number}")
    assert actor.flags(NOON + MINUTE) == ["missing_ids"]


def test_many_refusals_of_a_key_and_of_an_address(actor: Actor):
    actor.acts(NOON, 5, status=403)
    actor.acts(NOON, 5, status=429)
    actor.acts(NOON, 9, actor_kind="nobody", actor_id="", status=401, address="198.51.100.7")
    assert actor.flags(NOON) == ["refusals", "refusals"]
    assert set(AuditFlag.objects.values_list("actor_id", flat=True)) == {actor.key_id, "198.51.100.7"}


def test_a_flag_is_told_once_an_hour_and_is_in_the_audit(actor: Actor):
    for number in range(3):
        actor.acts(NOON + number * MINUTE, 10, status=403)
    told = [actor.flags(NOON + number * MINUTE) for number in range(3)]
    assert told.count(["refusals"]) == 1
    append_notes()
    row = AuditEvent.objects.get(actor_kind="system")
    assert (row.tenant_id, row.object, row.outcome) == (actor.tenant.id, actor.key_id, "refusals")
    flag = AuditFlag.objects.get()
    assert (flag.tenant_id, flag.actor_name) == (actor.tenant.id, "Owner's key")


def test_what_is_set_to_nothing_is_not_looked_for(actor: Actor):
    off = Thresholds(new_addresses=0, burst_factor=0, burst_least=1, missing_ids=0, refusals=0)
    actor.acts(NOON, 50, status=403)
    assert actor.flags(NOON, off) == []


def test_two_who_look_at_once_look_once(actor: Actor):
    actor.acts(NOON, 10, status=403)
    assert [actor.flags(NOON), actor.flags(NOON)] == [["refusals"], []]
