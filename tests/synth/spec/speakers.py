"""An engine that has every control and one that has none, and requests to them, for the tests of specs and keys."""

from typing import Any
from uuid import UUID

from synth.snapshot import Snapshot
from synth.spec import House, SpeechRequest, read_request
from synth.types import EngineCard, Spec, SpeedRange, Voice
from tenants.types import TenantRef

HOUSE = House(loudness=-16.0, pause_ms=250)
TENANT = TenantRef(UUID(int=1))
LANGUAGES = ("zh", "en", "ja")
SCRIPTS = ("Hani", "Hira", "Kana", "Latn")

ABLE = EngineCard(
    name="able",
    model_version="able-1",
    sample_rate=24_000,
    languages=LANGUAGES,
    scripts=SCRIPTS,
    voices=tuple(Voice(name, "able", f"print-of-{name}", LANGUAGES) for name in ("anna", "ben")),
    default_voices=dict.fromkeys(LANGUAGES, "anna"),
    priority=1,
    speed=SpeedRange(0.5, 2.0),
    controls=frozenset({"duration", "emotion", "pronunciations", "seed", "instruction"}),
    emotions=("happy", "sad"),
)
PLAIN = EngineCard(
    name="plain",
    model_version="plain-1",
    sample_rate=24_000,
    languages=("en",),
    scripts=("Latn",),
    voices=(Voice("anna", "plain", "print-of-plain-anna", ("en",)), Voice("carl", "plain", "print-of-carl", ("en",))),
    default_voices={"en": "carl"},
    priority=2,
)
SNAPSHOT = Snapshot(tenant=TENANT, version=1, keys={}, cards={"able": ABLE, "plain": PLAIN})


def request(**body: Any) -> SpeechRequest:
    """A request for the able engine, unless the body names a voice of the other."""
    return read_request({"text": "Hello there.", **body}, SNAPSHOT, house=HOUSE)


def spec(**body: Any) -> Spec:
    return request(**body).spec
