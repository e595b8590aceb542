"""Inline answers hold sounds up to a size; a longer one has a URL in their place, whether it was stored or is new."""

from base64 import b64decode

import pytest

from synth.models import Job
from synth.service import speaking
from synth.spec import SpeechRequest
from synth.types import CacheMode, Delivery
from tests.finished import Finished

pytestmark = pytest.mark.any_database


@pytest.fixture(params=[-1, 0])
def limit(request: pytest.FixtureRequest, finished: Finished, settings) -> bool:
    """Whether the sound is within the limit."""
    settings.REFRAIN = {**settings.REFRAIN, "INLINE_LIMIT": len(finished.data) + request.param}
    return request.param >= 0


def test_a_stored_sound(ask, finished: Finished, limit: bool):
    for _ in range(2):
        body = ask(delivery="inline").json()
        assert ("audio" in body, "url" in body) == (limit, not limit)
        assert not limit or b64decode(body["audio"]) == finished.data


def test_a_new_sound(ask, finished: Finished, limit: bool):
    spoken = speaking.deliver_job(
        Job.objects.select_related("rendering").get(),
        SpeechRequest(spec=None, cache=CacheMode.USE, delivery=Delivery.INLINE),  # type: ignore[arg-type]
    )
    assert (spoken.audio is not None) is limit


def test_binary_answers_have_no_such_limit(ask, finished: Finished, limit: bool):
    assert ask(delivery="binary").content == finished.data
