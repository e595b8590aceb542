"""The reader of long JSON gives what a reader of the whole gives, however the members are ordered."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.api.json_members import Members
from tenants.errors import InvalidRequest

scalars = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(scalars | texts, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner))


def read(text: str) -> tuple[dict[str, Any], list[Any]]:
    def members() -> Members:
        return Members(io.BytesIO(text.encode()), streamed="items", most=2**20)

    return members().others(), list(members().elements())


@given(st.dictionaries(texts.filter(lambda name: name != "items"), values), st.lists(values), st.randoms())
def test_it_reads_what_is_there(others: dict[str, Any], items: list[Any], random: Any) -> None:
    pairs = [*others.items(), ("items", items)]
    random.shuffle(pairs)
    assert read(json.dumps(dict(pairs), ensure_ascii=False)) == (others, items)


@given(st.dictionaries(texts, values, min_size=1), st.data())
def test_half_of_it_is_no_json(body: dict[str, Any], data: Any) -> None:
    text = json.dumps({**body, "items": []}, ensure_ascii=False)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(InvalidRequest):
        read(text[:cut])
