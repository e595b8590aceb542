"""What a TTL rule may say: told by field, and held by the database too."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from synth import service
from synth.models import Policy
from synth.models.policy import LONGEST
from tests.world import World, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
HOT = {"hot_hits": 3, "hot_window": 60, "hot_factor": 2.0, "hot_ceiling": 1000}
WRONG = [
    ({"min_characters": 5, "max_characters": 4}, {"max_characters"}),
    ({"max_age": 0}, {"max_age"}),
    ({"max_age": LONGEST + 1}, {"max_age"}),
    ({"stale": LONGEST + 1}, {"stale"}),
    ({"max_age": 60, "hot_hits": 3, "hot_window": 60}, {"hot_factor", "hot_ceiling"}),
    ({"max_age": 60, **HOT, "hot_factor": 1.0}, {"hot_factor"}),
    ({"max_age": 60, **HOT, "hot_hits": 0}, {"hot_hits"}),
    ({"pinned": True, "never_cache": True}, {"never_cache"}),
    ({"pinned": True, "max_age": 60}, {"max_age"}),
    ({"never_cache": True, "stale": 60, **HOT}, {"stale", *HOT}),
]
ONLY_BY_SENTENCE = [
    ({"max_age": 2000, **HOT}, {"hot_ceiling"}),
    ({**HOT}, {"hot_ceiling"}),  # below the default of a day
]
RIGHT = [
    {},
    {"max_age": LONGEST, "stale": LONGEST},
    {"max_age": 60, "min_characters": 4, "max_characters": 4, **HOT},
    {"pinned": True, "category": "news"},
    {"never_cache": True, "voice": "counting_a"},
]


@pytest.mark.parametrize(("fields", "blamed"), [*WRONG, *ONLY_BY_SENTENCE])
def test_what_makes_no_sense_is_refused_at_its_field(fields, blamed):
    with pytest.raises(ValidationError) as refused:
        service.save_policy(Policy(**fields))
    assert set(refused.value.message_dict) == blamed
    assert not Policy.objects.exists()


@pytest.mark.parametrize("fields", [fields for fields, _ in WRONG])
def test_the_database_refuses_it_too(fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        Policy(**fields).save()


@pytest.mark.parametrize("fields", RIGHT)
def test_what_makes_sense_is_saved(fields):
    saved = service.save_policy(Policy(**fields))
    assert Policy.objects.get() == saved
    assert saved.public_id.startswith("pol_")


def test_a_tenant_has_a_bounded_number_of_rules(monkeypatch):
    monkeypatch.setattr("synth.models.policy.MOST_RULES", 2)
    world: World = make_world()
    for tenant in (world.owner.tenant, None):
        kept = [service.save_policy(Policy(tenant=tenant)) for _ in range(2)]
        with pytest.raises(ValidationError):
            service.save_policy(Policy(tenant=tenant))
        kept[0].note = "still to be changed"
        service.save_policy(kept[0])
