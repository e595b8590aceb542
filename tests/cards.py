"""Engine cards as workers publish them, for tests of the API that need no worker."""

from collections.abc import Sequence

import pytest

from synth import cards
from synth.types import EngineCard, SpeedRange, Voice
from tests.engines.counting import CountingEngine

COUNTING = CountingEngine().card
# English only, with no control at all, and nobody's default.
PLAIN = EngineCard(
    name="plain",
    model_version="plain-1",
    sample_rate=22_050,
    languages=("en",),
    scripts=("Latn",),
    voices=(Voice("plain_a", "plain", "fingerprint-of-plain_a", ("en",), label="Plain", gender="female"),),
    default_voices={},
)
# Every control there is.
ACTOR = EngineCard(
    name="actor",
    model_version="actor-1",
    sample_rate=24_000,
    languages=("zh", "en"),
    scripts=("Hani", "Latn"),
    voices=(Voice("actor_a", "actor", "fingerprint-of-actor_a", ("zh", "en")),),
    default_voices={},
    speed=SpeedRange(0.8, 1.2),
    controls=frozenset({"duration", "emotion", "pronunciations", "seed"}),
    emotions=("happy", "sad"),
)
ALL = (COUNTING, PLAIN, ACTOR)


def publish(published: Sequence[EngineCard] = ALL) -> None:
    for card in published:
        cards.publish(card)


@pytest.fixture
def published_cards(db: None) -> None:
    publish()
