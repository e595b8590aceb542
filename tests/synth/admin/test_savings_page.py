"""The savings' page: who may see it, whose days it tells of, and what it leaves out where nobody set a price."""

import json

import pytest
from django.contrib.auth.models import Permission, User

from tests.synth.admin.pages import list_of, words
from tests.synth.savings.world import MONDAY, TUESDAY, measured, moment, request
from tests.world import World

pytestmark = pytest.mark.django_db
ADDRESS = list_of("engineday")
PERIOD = {"first": MONDAY.isoformat(), "last": TUESDAY.isoformat()}


@pytest.fixture
def used(world: World) -> World:
    measured(world.stranger.tenant, MONDAY, runs=10, characters=400, engine_seconds=20.0)
    request(world.owner.tenant, moment(MONDAY), 100_000)
    request(world.stranger.tenant, moment(TUESDAY), 19)
    return world


def test_it_tells_of_all_tenants_or_of_one(admin_client, used: World, settings) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "GPU_PRICE_PER_HOUR": {"": 1.8}, "CURRENCY": "EUR"}
    everyone = words(admin_client.get(ADDRESS, PERIOD).content.decode())
    assert "2026-11-02" in everyone
    assert "100,019" in everyone
    assert "83.3 min" in everyone  # 100,019 x 0.05 s
    assert "2.50 EUR" in everyone
    assert "Energy saved" not in everyone
    one = words(admin_client.get(ADDRESS, {**PERIOD, "tenant": str(used.stranger.tenant.id)}).content.decode())
    assert "100,0" not in one
    assert "1.0 s" in one  # 19 x 0.05 s
    assert "20.0 s" in one


def test_the_chart_has_a_bar_for_each_day(admin_client, used: World) -> None:
    chart = json.loads(admin_client.get(ADDRESS, PERIOD).context["report"]["chart"])
    assert chart["labels"] == ["11-02", "11-03"]
    assert [bars["data"][0] for bars in chart["datasets"]] == [pytest.approx(83.333), pytest.approx(0.333)]


def test_by_itself_it_shows_which_thirty_days_it_tells_of(admin_client, used: World) -> None:
    page = admin_client.get(ADDRESS)
    report = page.context["report"]
    assert (report["last"] - report["first"]).days == 29
    assert f'value="{report["first"].isoformat()}"' in page.content.decode()


@pytest.mark.parametrize(
    "query",
    [
        {"first": "2026-11-03", "last": "2026-11-02"},
        {"first": "2020-01-01", "last": "2026-01-01"},
        {"last": "0001-01-01"},
        {"first": "yesterday"},
        {"tenant": "nobody"},
    ],
)
def test_what_cannot_be_told_is_said_in_the_form(admin_client, used: World, query: dict[str, str]) -> None:
    page = admin_client.get(ADDRESS, query)
    assert page.status_code == 200
    assert page.context["report"] is None
    assert page.context["form"].errors


def test_only_who_may_see_it_sees_it(client, used: World) -> None:
    staff = User.objects.create_user("staff", password="staff-password", is_staff=True)
    assert client.get(ADDRESS).status_code == 302
    client.force_login(staff)
    assert client.get(ADDRESS).status_code == 403
    staff.user_permissions.add(Permission.objects.get(codename="view_engineday"))
    assert client.get(ADDRESS).status_code == 200
