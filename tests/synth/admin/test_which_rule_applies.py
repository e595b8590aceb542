"""The page "Which rule applies": the winner, why every other rule does not apply, and what is stored now."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from django.utils import timezone

from synth.models import Entry, Policy
from tests import cards
from tests.finished import Finished, finish
from tests.synth.admin.pages import words
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
WHICH = "admin:synth_policy_which_rule"
TEXT = "Hello there."


@pytest.fixture
def finished(world: World) -> Finished:
    cards.publish()
    return finish(world.owner, {"text": TEXT})


def ask(client, world: World, **changes: str):
    question = {"tenant": str(world.owner.tenant.id), "text": TEXT, **changes}
    answer = client.get(reverse(WHICH), question)
    assert answer.status_code == 200
    return answer


def verdicts(answer) -> dict[str, str]:
    """Each rule's name with what is said of it."""
    return {words(str(row[0])): str(row[1]) for row in answer.context["answer"]["rules"]["rows"]}


def forms(answer) -> dict[str, str]:
    """Each stored format with its state."""
    return {row[0]: str(row[1]) for row in answer.context["answer"]["forms"]["rows"]}


def test_the_winner_is_named_and_every_other_rule_says_why_not(admin_client, world: World, finished):
    tenant = world.owner.tenant
    Policy.objects.create(note="ads", tenant=tenant, priority=1, category="ads", max_age=60)
    Policy.objects.create(note="long", priority=2, min_characters=100)
    Policy.objects.create(note="off", priority=3, enabled=False)
    Policy.objects.create(note="other voice", priority=4, voice="counting_b", engine="plain")
    Policy.objects.create(note="mine", tenant=tenant, priority=5, max_age=7200)
    Policy.objects.create(note="rest", priority=6)
    Policy.objects.create(note="not of this tenant", tenant=world.stranger.tenant, priority=0)
    answer = ask(admin_client, world, category="news")
    assert verdicts(answer) == {
        "ads": "the category is news, not ads",
        "long": "12 characters are fewer than 100",
        "off": "it is switched off",
        "other voice": "the engine is counting, not plain; the voice is counting_a, not counting_b",
        "mine": "applies",
        "rest": "it matches, but mine comes first",
    }
    page = words(answer.content.decode())
    assert "This rule applies: mine" in page
    assert "Kept: 2 h" in page


def test_without_a_rule_the_default_is_told(admin_client, world: World, finished):
    page = words(ask(admin_client, world).content.decode())
    assert "No rule matches: the default of this installation applies. Kept: 1 d" in page


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"max_age": 1000}, "fresh"),
        ({"max_age": 50, "stale": 1000}, "served old, and made anew"),
        ({"max_age": 50}, "expired"),
        ({"pinned": True}, "fresh"),
        ({"never_cache": True}, "not used: never cached"),
    ],
)
def test_what_is_stored_is_judged_by_the_rule(admin_client, world: World, finished: Finished, fields, said):
    Entry.objects.filter(id=finished.entry.id).update(made_at=timezone.now() - timedelta(seconds=100))
    Policy.objects.create(tenant=world.owner.tenant, **fields)
    answer = ask(admin_client, world, text=f"  {TEXT} ")
    assert forms(answer) == {"mp3": said}
    assert answer.context["answer"]["absent"] == "flac, opus, pcm, wav"


def test_another_tenants_sound_is_not_told_of(admin_client, world: World, finished):
    assert not forms(ask(admin_client, world, tenant=str(world.stranger.tenant.id)))


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ({}, ("counting", "counting_a")),
        ({"voice": "counting_b"}, ("counting", "counting_b")),
        ({"engine": "plain"}, ("plain", "plain_a")),
        ({"engine": "counting", "voice": "counting_b"}, ("counting", "counting_b")),
    ],
)
def test_engine_and_voice_are_what_the_api_would_take(admin_client, world: World, finished, asked, chosen):
    subject = ask(admin_client, world, **asked).context["answer"]["subject"]
    assert (subject.engine, subject.voice) == chosen


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"voice": "nobody"}, "voice"),
        ({"text": "。。。"}, "text"),
        ({"tenant": ""}, "tenant"),
        ({"engine": "x"}, "engine"),
    ],
)
def test_what_the_api_would_refuse_is_told_at_its_field(admin_client, world: World, finished, asked, field):
    answer = ask(admin_client, world, **asked)
    assert answer.context["answer"] is None
    assert field in answer.context["form"].errors


def test_without_any_engine_the_page_says_so(admin_client, world: World):
    assert "No speech engine has started yet." in ask(admin_client, world).content.decode()


def test_who_may_see_rules_may_ask_and_nobody_else(client, world: World, finished):
    staff = User.objects.create_user("staff", password="staff-password", is_staff=True)
    assert client.get(reverse(WHICH)).status_code == 302
    client.force_login(staff)
    assert client.get(reverse(WHICH)).status_code == 403
    staff.user_permissions.add(Permission.objects.get(codename="view_policy"))
    assert client.get(reverse(WHICH)).status_code == 200
