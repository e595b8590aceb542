"""GET /v1/voices and /v1/engines: what the cards say, paged."""

import pytest

from synth import cards, engine_time
from synth.models import EngineCardRow
from tests.api.caller import Caller
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def test_every_voice_is_listed_by_the_name_that_a_request_takes(owner: Caller) -> None:
    voices = owner.get("/v1/voices").json()
    ids = [voice["id"] for voice in voices["results"]]
    assert ids == ["actor/actor_a", "counting/counting_a", "counting/counting_b", "plain/plain_a"]
    assert voices["count"] == 4
    for voice in ids:
        assert owner.speak(voice=voice).status_code == 202


def test_a_voice_tells_what_it_is_and_for_which_languages_it_is_taken(owner: Caller) -> None:
    by_id = {voice["id"]: voice for voice in owner.get("/v1/voices").json()["results"]}
    assert by_id["plain/plain_a"] == {
        "id": "plain/plain_a",
        "object": "voice",
        "name": "plain_a",
        "engine": "plain",
        "label": "Plain",
        "gender": "female",
        "languages": ["en"],
        "default_for": [],
        "own": False,
        "state": "ready",
    }
    assert set(by_id["counting/counting_a"]["default_for"]) == {"zh", "en", "ja", "ko"}


def test_pages_of_voices(owner: Caller) -> None:
    page = owner.get("/v1/voices", {"limit": 3, "offset": 3}).json()
    assert ([voice["id"] for voice in page["results"]], page["next"]) == (["plain/plain_a"], None)
    assert page["previous"]


def test_an_engine_tells_what_it_can(owner: Caller) -> None:
    by_name = {engine["name"]: engine for engine in owner.get("/v1/engines").json()["results"]}
    actor = by_name["actor"]
    assert actor["controls"] == ["duration", "emotion", "pronunciations", "seed"]
    assert (actor["emotions"], actor["speed"]) == (["happy", "sad"], {"minimum": 0.8, "maximum": 1.2})
    assert (actor["status"], actor["available"], actor["voices"]) == ("available", True, 1)
    assert by_name["plain"]["speed"] is None
    assert by_name["counting"]["deterministic"]


def test_an_engine_that_is_away_or_broken_says_so(owner: Caller) -> None:
    EngineCardRow.objects.filter(name="plain").update(seen_at="2020-01-01T00:00:00Z")
    cards.publish_problem("silent", "its weights are missing")
    by_name = {engine["name"]: engine for engine in owner.get("/v1/engines").json()["results"]}
    assert (by_name["plain"]["status"], by_name["plain"]["available"]) == ("away", False)
    assert (by_name["silent"]["status"], by_name["silent"]["problem"]) == ("broken", "its weights are missing")


def test_an_engine_tells_how_fast_it_was_lately(owner: Caller, world: World) -> None:
    engine_time.note_run(world.owner.ref, "counting", characters=10, seconds=1.0, audio=4.0)
    engine_time.flush()
    by_name = {engine["name"]: engine for engine in owner.get("/v1/engines").json()["results"]}
    assert (by_name["counting"]["real_time_factor"], by_name["plain"]["real_time_factor"]) == (0.25, None)
    assert not {"worker", "workers", "device", "host"} & set(by_name["counting"])
