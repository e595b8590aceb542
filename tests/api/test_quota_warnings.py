"""A quota tells of itself by webhook at 80 and at 100 percent: once for each period, and at once when it refuses."""

from datetime import UTC, datetime

import pytest

from synth.models import WebhookEvent
from synth.service import warn_of_quotas
from tenants import service
from tenants.ids import new_id
from tenants.models import Usage
from tenants.usage import write_usage
from tests.api.caller import Caller

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def use(owner: Caller, characters: int) -> None:
    now, tenant, key = datetime.now(UTC), owner.member.tenant, owner.member.key
    write_usage([Usage(id=new_id(), tenant=tenant, api_key_id=key.id, at=now, outcome="miss", characters=characters)])
    for _ in range(2):
        warn_of_quotas()


def told() -> list[tuple[str, str, int]]:
    events = WebhookEvent.objects.filter(type="quota.warning").order_by("created_at", "id")
    return [(event.data["scope"], event.data["quota"], event.data["percent"]) for event in events]


def test_once_for_each_share(owner: Caller) -> None:
    service.limit_quotas(owner.member.tenant, characters_per_day=100, synthesis_per_day=10)
    use(owner, 79)
    assert told() == []
    use(owner, 1)
    assert told() == [("tenant", "characters_per_day", 80)]
    use(owner, 19)
    use(owner, 1)
    assert told() == [("tenant", "characters_per_day", 80), ("tenant", "characters_per_day", 100)]
    data = WebhookEvent.objects.filter(type="quota.warning").latest("created_at").data
    assert (data["used"], data["limit"], data["key"]) == (100, 100, None)


def test_of_a_key(owner: Caller) -> None:
    service.limit_key_quotas(owner.member.key, characters_per_month=100)
    use(owner, 85)
    assert told() == [("key", "characters_per_month", 80)]


def test_a_refusal_tells_at_once(owner: Caller) -> None:
    service.limit_quotas(owner.member.tenant, characters_per_day=15)
    answers = [owner.speak(text="Ten chars.").status_code for _ in range(3)]
    assert answers == [202, 429, 429]
    assert told() == [("tenant", "characters_per_day", 100)]
