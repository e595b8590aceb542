"""The reader of long JSON gives what a reader of the whole gives, however the members are ordered."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.api import json_members
from synth.api.json_members import Members, Unreadable
from tenants.errors import InvalidRequest

scalars = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    scalars | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(autouse=True, scope="module")
def _small_chunks() -> Iterator[None]:
    """So that every piece lies on the edge of one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_members, "CHUNK", 7)
        yield


def read(text: str) -> tuple[dict[str, Any], list[Any]]:
    def members() -> Members:
        return Members(io.BytesIO(text.encode()), streamed="items", most=2**20)

    return members().others(), list(members().elements())


@settings(deadline=None)
@given(
    st.dictionaries(texts.filter(lambda name: name != "items"), values, max_size=4),
    st.lists(values, max_size=6),
    st.randoms(),
)
def test_it_reads_what_is_there(others: dict[str, Any], items: list[Any], random: Any) -> None:
    pairs = [*others.items(), ("items", items)]
    random.shuffle(pairs)
    assert read(json.dumps(dict(pairs), ensure_ascii=False)) == (others, items)


@pytest.mark.parametrize("text", ['{"items": [[%s]]}', '{"a": [%s], "items": []}', '{"a": %s, "items": []}'])
def test_what_is_ahead_of_a_bracket_is_looked_at_once_in_a_piece(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looks, begins = [], Members._begins
    monkeypatch.setattr(Members, "_begins", lambda *given: looks.append(given) or begins(*given))
    with suppress(InvalidRequest):
        Members(io.BytesIO((text % ("[]" * 1000)).encode()), streamed="items", most=2**20).others()
    assert len(looks) < 5


@settings(deadline=None)
@given(st.dictionaries(texts, values, min_size=1, max_size=4), st.data())
def test_half_of_it_is_no_json(body: dict[str, Any], data: Any) -> None:
    text = json.dumps({**body, "items": []}, ensure_ascii=False)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(InvalidRequest):
        read(text[:cut])


@settings(deadline=None)
@given(st.dictionaries(texts, values, max_size=3), st.lists(values, max_size=4), st.data())
def test_what_is_broken_is_never_taken_for_whole(others: dict[str, Any], items: list[Any], data: Any) -> None:
    text = json.dumps({**others, "items": items}, ensure_ascii=False)
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + data.draw(st.sampled_from('[]{},:"\\1 a')) + text[at + data.draw(st.integers(0, 1)) :]
    try:
        found = read(broken)
    except InvalidRequest:
        return
    if not any(isinstance(value, Unreadable) for value in found[1]):
        whole = orjson.loads(broken)
        assert found == ({name: value for name, value in whole.items() if name != "items"}, whole.get("items", []))


@pytest.mark.parametrize("one", ["[", "[],", '"",', '{"a":'])
def test_a_body_of_brackets_is_not_looked_through_to_its_end(one: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_members, "MOST_MARKS", 1000)
    file = io.BytesIO(b'{"items": [' + one.encode() * 10_000)
    with pytest.raises(InvalidRequest) as refused:
        Members(file, streamed="items", most=2**20).others()
    assert refused.value.code == "too_large"
    assert file.tell() < 10_000


def test_what_a_text_says_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_members, "MOST_MARKS", 10)
    text = '[,{"\\\u4f60' * 1000
    assert read(json.dumps({"items": [text]})) == ({}, [text])


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from('"\\aé你\n')), max_size=4))
def test_quotes_and_escapes_on_the_edge_of_a_piece(items: list[str]) -> None:
    for ascii_alone in (True, False):
        assert read(json.dumps({"items": items}, ensure_ascii=ascii_alone)) == ({}, items)
