"""L1: bounded by bytes, by key and digest; a signed URL is shared while it has more than half of its time."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.cache.local import LocalCache, SignedUrl


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 400)), max_size=60))
@settings(max_examples=50, deadline=None)
def test_it_never_holds_more_than_its_bytes(puts: list[tuple[str, int]]) -> None:
    cache = LocalCache(max_bytes=1000)
    for number, (key, size) in enumerate(puts):
        cache.keep_audio(key, str(number), bytes(size))
        held = [cache.audio(name, cache.digest(name)) or b"" for name in "abcdef"]
        assert sum(map(len, held)) <= 1000


def test_a_quarter_of_it_is_the_most_for_one_sound() -> None:
    cache = LocalCache(max_bytes=1000)
    cache.keep_audio("large", "d", bytes(251))
    cache.keep_audio("small", "d", bytes(250))
    assert cache.audio("large", "d") is None
    assert cache.audio("small", "d") == bytes(250)


def test_it_answers_for_the_very_digest_only() -> None:
    cache = LocalCache(max_bytes=1000)
    cache.keep_audio("key", "old", b"old")
    assert cache.audio("key", "new") is None
    cache.keep_audio("key", "new", b"new")
    assert (cache.digest("key"), cache.audio("key", "old"), cache.audio("key", "new")) == ("new", None, b"new")


def test_the_least_recently_heard_goes_first() -> None:
    cache = LocalCache(max_bytes=1000)
    for name in "abcd":
        cache.keep_audio(name, "d", bytes(250))
    cache.audio("a", "d")
    cache.keep_audio("e", "d", bytes(250))
    assert cache.audio("a", "d") is not None
    assert cache.audio("b", "d") is None


@pytest.mark.parametrize(("left", "shared"), [(100, True), (51, True), (49, False), (-1, False)])
def test_a_url_is_shared_until_half_of_its_time_is_over(left: float, shared: bool) -> None:
    cache = LocalCache(max_bytes=1000)
    signed = SignedUrl("https://example.org/x", time.time() + left)
    cache.keep_url("name", signed)
    assert cache.url("name", ttl=100) == (signed if shared else None)
