"""TTL rules at work: each saved change acts on the very next request, also on what is stored already."""

from datetime import timedelta

import pytest
from django.utils import timezone

from synth import codec, service
from synth.keys import segment_key
from synth.models import Entry, Job, Policy, Rendering, RenderingPart, Synthesis
from synth.models.states import OPEN, Priority, State
from synth.service import speaking
from synth.service.orders import segments_of
from synth.types import Spec
from tests.finished import Finished, finish
from tests.renewals import renewals_done
from tests.synth.cache.conftest import BODY, Speaker
from tests.world import World

AGE = 100


@pytest.fixture
def old(finished: Finished) -> Entry:
    """The stored sound, a hundred seconds old."""
    return aged(finished.entry, AGE)


def aged(entry: Entry, seconds: float) -> Entry:
    entry.made_at = timezone.now() - timedelta(seconds=seconds)
    entry.save(update_fields=["made_at"])
    return entry


def rule(tenant=None, **fields) -> Policy:
    return service.save_policy(Policy(tenant=tenant, **fields))


def told(answer) -> str:
    """How the answer came: the status of the cache, or `queued`."""
    return "queued" if answer.status_code == 202 else answer.json()["cache"]


def test_a_rule_shortens_and_lengthens_what_is_stored(ask, old, world: World):
    assert [told(ask()) for _ in range(2)] == ["restored", "hit"]
    saved = rule(world.owner.tenant, max_age=AGE - 1)
    assert told(ask()) == "queued"
    saved.max_age = AGE + 1000
    service.save_policy(saved)
    assert told(ask()) == "hit"
    saved.max_age = AGE - 1
    service.save_policy(saved)
    assert told(ask()) == "queued"
    service.delete_policies([saved])
    assert told(ask()) == "hit"


def test_a_rule_for_all_tenants_acts_on_each_and_the_tenants_own_goes_before_it(ask, old, world: World):
    strangers = aged(finish(world.stranger, BODY).entry, AGE)
    stranger = Speaker(world.stranger.headers)
    assert [told(ask()), told(stranger())] == ["restored", "restored"]
    rule(max_age=AGE - 1)
    rule(world.stranger.tenant, max_age=AGE * 10)
    assert [told(ask()), told(stranger())] == ["queued", "hit"]
    assert strangers.tenant_id != old.tenant_id


def test_a_rule_that_goes_to_another_tenant_acts_on_both(ask, old, world: World):
    aged(finish(world.stranger, BODY).entry, AGE)
    stranger = Speaker(world.stranger.headers)
    saved = rule(world.owner.tenant, max_age=AGE - 1)
    assert [told(ask()), told(stranger())] == ["queued", "restored"]
    saved.tenant = world.stranger.tenant
    service.save_policy(saved)
    assert [told(ask()), told(stranger())] == ["restored", "queued"]


def test_a_rule_switched_off_and_on_acts_at_once(ask, old, world: World):
    saved = rule(world.owner.tenant, max_age=AGE - 1, enabled=False)
    assert told(ask()) == "restored"
    assert service.switch_policies([saved], on=True) == 1
    assert told(ask()) == "queued"
    assert service.switch_policies([saved], on=True) == 0
    service.switch_policies([saved], on=False)
    assert told(ask()) == "hit"


@pytest.mark.parametrize(
    ("matchers", "matches"),
    [
        ({"category": "news"}, True),
        ({"category": "ads"}, False),
        ({"engine": "counting", "voice": "counting_a"}, True),
        ({"engine": "plain"}, False),
        ({"voice": "counting_b"}, False),
        ({"min_characters": len(BODY["text"]), "max_characters": len(BODY["text"])}, True),
        ({"min_characters": len(BODY["text"]) + 1}, False),
        ({"max_characters": len(BODY["text"]) - 1}, False),
    ],
)
def test_each_matcher_decides(ask, old, world: World, matchers, matches):
    rule(world.owner.tenant, max_age=AGE - 1, **matchers)
    assert told(ask(category="news")) == ("queued" if matches else "restored")


def test_pinned_outlives_every_ttl(ask, finished: Finished, world: World):
    aged(finished.entry, 5 * 365 * 86_400)
    assert told(ask()) == "queued"
    rule(world.owner.tenant, pinned=True)
    assert [told(ask()) for _ in range(2)] == ["restored", "hit"]


def test_a_ttl_beyond_the_expiry_in_redis_is_kept_by_the_catalogue(ask, finished: Finished, world: World, redis_server):
    """Redis drops the key after L2_EXPIRY; the catalogue knows better, and the key comes back."""
    rule(world.owner.tenant, max_age=90 * 86_400)
    aged(finished.entry, 80 * 86_400)
    assert [told(ask()) for _ in range(2)] == ["restored", "hit"]
    redis_server.flush()
    assert [told(ask()) for _ in range(2)] == ["restored", "hit"]


def test_what_is_asked_for_often_is_kept_for_longer(ask, old, world: World):
    often = {"hot_hits": 2, "hot_window": 3600, "hot_factor": 3.0, "hot_ceiling": AGE * 100}
    saved = rule(world.owner.tenant, max_age=AGE * 10, **often)
    assert [told(ask()) for _ in range(4)] == ["restored", "hit", "hit", "hit"]
    saved.max_age = AGE - 1
    service.save_policy(saved)
    assert told(ask()) == "hit"
    saved.hot_hits = 1000
    service.save_policy(saved)
    assert told(ask()) == "queued"


# --- Never cache ----------------------------------------------------------------------------------------------------


def test_what_is_never_cached_is_neither_read_nor_stored_and_joins_its_like(ask, old, world: World):
    assert told(ask()) == "restored"
    rule(world.owner.tenant, never_cache=True)
    assert [told(ask()) for _ in range(3)] == ["queued"] * 3
    (rendering,) = Rendering.objects.filter(state__in=OPEN)
    assert not rendering.stored
    assert [part.synthesis.stored for part in rendering.parts.all()] == [False]
    assert Job.objects.filter(rendering=rendering).count() == 3


def test_what_is_never_cached_does_not_join_what_will_be_stored(ask, world: World):
    assert told(ask()) == "queued"
    rule(world.owner.tenant, never_cache=True)
    assert told(ask()) == "queued"
    assert sorted(Rendering.objects.filter(state__in=OPEN).values_list("stored", flat=True)) == [False, True]
    open_sentences = Synthesis.objects.filter(state__in=OPEN)
    assert sorted(open_sentences.values_list("stored", flat=True)) == [False, True]


def test_a_refresh_of_what_is_never_cached_is_not_stored_either(ask, world: World):
    rule(world.owner.tenant, never_cache=True)
    assert told(ask(cache="refresh")) == "queued"
    assert not Rendering.objects.get(state__in=OPEN).stored


# --- Served old -----------------------------------------------------------------------------------------------------


def test_the_old_sound_is_served_while_one_renewal_is_queued(ask, old, world: World):
    rule(world.owner.tenant, max_age=AGE - 1, stale=1000)
    answers = [ask() for _ in range(4)]
    renewals_done()
    assert [told(answer) for answer in answers] == ["stale"] * 4
    assert answers[0].json()["from_cache"]
    assert answers[0].json()["sha256"] == old.digest
    renewal = Rendering.objects.get(state__in=OPEN)
    assert (renewal.priority, renewal.stored) == (Priority.REWARM, True)
    assert Job.objects.filter(rendering=renewal).count() == 1


def test_an_open_renewal_of_another_process_is_left_alone(ask, old, world: World, monkeypatch):
    rule(world.owner.tenant, max_age=AGE - 1, stale=1000)
    assert told(ask()) == "stale"
    renewals_done()
    monkeypatch.setattr(speaking, "_renewals", type(speaking._renewals)())
    assert told(ask()) == "stale"
    renewals_done()
    assert Job.objects.filter(state__in=OPEN).count() == 1


def test_past_the_time_in_which_the_old_is_served_it_is_made_anew_first(ask, old, world: World):
    rule(world.owner.tenant, max_age=AGE - 20, stale=10)
    assert told(ask()) == "queued"


def test_a_fresh_sound_is_not_renewed(ask, old, world: World):
    rule(world.owner.tenant, max_age=AGE * 10, stale=1000)
    assert [told(ask()) for _ in range(2)] == ["restored", "hit"]
    renewals_done()
    assert not Rendering.objects.filter(state__in=OPEN).exists()


# --- Sentences ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("max_age", "reused"), [(AGE - 1, False), (AGE + 1000, True)])
def test_sentences_are_kept_by_the_rule_of_the_request(ask, finished: Finished, world: World, max_age, reused):
    _store_sentence(finished)
    aged(finished.entry, 30 * 86_400)
    rule(world.owner.tenant, max_age=max_age)
    assert told(ask()) == "queued"
    part = RenderingPart.objects.get(rendering__state__in=[State.WAITING, State.QUEUED])
    assert bool(part.digest) == reused


def _store_sentence(finished: Finished) -> None:
    spec = codec.from_json(Spec, finished.job.rendering.spec)
    (segment,) = segments_of(spec, max_units=400)
    sentence = Entry.objects.get(id=finished.entry.id)
    Synthesis.objects.filter(state__in=OPEN).update(state=State.SUCCEEDED)
    sentence.pk, sentence.kind, sentence.key = None, Entry.Kind.SEGMENT, segment_key(segment)
    sentence.id = Entry._meta.pk.get_default()
    sentence.made_at = timezone.now() - timedelta(seconds=AGE)
    sentence._state.adding = True
    sentence.save(force_insert=True)
