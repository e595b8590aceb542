"""What the tests of openai_http share: an engine over a server of their own, and what it is asked to say."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from synth.engines.openai_http import OpenAiHttp
from synth.errors import WorkError
from synth.types import Pcm, Segment
from tests.servers.speech import SpeechServer
from tests.synth.engines.speaking import SENTENCES, segment

KEY = "sk-of-the-tests"
TEXT = SENTENCES["en"]


@contextmanager
def engine_of(server: SpeechServer, **options: str) -> Iterator[OpenAiHttp]:
    engine = OpenAiHttp(options=server.options(**{"api_key": KEY, **options}))
    try:
        yield engine
    finally:
        engine.close()


def said(engine: OpenAiHttp, text: str = TEXT, *, language: str = "en", speed: float = 1.0) -> Segment:
    return segment(engine.card, text, language=language, speed=speed)


def spoken(server: SpeechServer, **options: str) -> Pcm:
    with engine_of(server, **options) as engine:
        return engine.synthesize(said(engine))


def failure(server: SpeechServer, kind: type[WorkError], **options: str) -> WorkError:
    """How one sentence fails; what is told of it holds neither the text nor the key."""
    with engine_of(server, **options) as engine, pytest.raises(kind) as caught:
        engine.synthesize(said(engine))
    error: BaseException | None = caught.value
    while error is not None:
        assert TEXT not in str(error)
        assert KEY not in str(error)
        error = error.__cause__ or error.__context__
    return caught.value
