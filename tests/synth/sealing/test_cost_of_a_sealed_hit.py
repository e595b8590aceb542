"""A hit of sealed speech costs one round trip to Redis and no SQL, as any other does."""

import pytest

from tenants import sealing
from tests.synth.cache.counting import round_trips, sent  # noqa: F401 - a fixture
from tests.synth.sealing.test_own_key import KEY, TEXT, Holder, register

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


@pytest.mark.parametrize("mode", ["platform", "own"])
def test_a_sealed_hit(world, engine, sent, django_assert_num_queries, mode):  # noqa: F811
    speaker = Holder(world.owner, engine)
    sealing.set_encryption(world.owner.tenant, mode)
    if mode == "own":
        register(speaker, KEY)
        speaker = speaker.holding(KEY)
    speaker.speak(TEXT, format="mp3")
    for delivery in ("url", "binary", "inline"):
        speaker.ask(TEXT, format="mp3", delivery=delivery)
        with django_assert_num_queries(0), round_trips(sent, 1):
            answer = speaker.ask(TEXT, format="mp3", delivery=delivery)
        assert answer.status_code == 200
