"""The usage screen: looked at, never edited, and found by request or tenant."""

import pytest
from django.urls import reverse
from django.utils import timezone

from tenants.ids import new_id
from tenants.models import Usage
from tests.world import World

pytestmark = pytest.mark.django_db
LIST = "admin:tenants_usage_changelist"


@pytest.fixture
def rows(world: World) -> list[Usage]:
    asked = [(member.tenant, outcome) for member in (world.owner, world.stranger) for outcome in ("hit", "miss")]
    now = timezone.now()
    return [
        Usage.objects.create(id=new_id(), tenant=tenant, at=now, outcome=outcome, request_id=f"req_{number}")
        for number, (tenant, outcome) in enumerate(asked)
    ]


def found(client, **query: str) -> list[Usage]:
    answer = client.get(reverse(LIST), query)
    assert answer.status_code == 200
    return list(answer.context["cl"].result_list)


def test_it_lists_and_filters(admin_client, rows, world: World):
    assert set(found(admin_client)) == set(rows)
    assert {row.outcome for row in found(admin_client, outcome="miss")} == {"miss"}
    assert set(found(admin_client, q=world.owner.tenant.slug)) == set(rows[:2])
    assert found(admin_client, q=f"req_{rows[3].id.hex}") == [rows[3]]


def test_nobody_edits_it(admin_client, rows):
    address = reverse("admin:tenants_usage_change", args=[rows[0].pk])
    assert admin_client.get(address).status_code == 200
    assert admin_client.post(address, {"outcome": "miss"}).status_code == 403
    assert admin_client.get(reverse("admin:tenants_usage_add")).status_code == 403
