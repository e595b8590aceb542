"""What an `Idempotency-Key` may look like: a structured string or the bare characters, which mean the same."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.api.idempotent import read_key
from synth.errors import BadIdempotencyKey

pytestmark = pytest.mark.any_database
VISIBLE = "".join(sorted(set(string.printable) - set(string.whitespace)))
BARE = VISIBLE.replace('"', "").replace("\\", "")


def quoted(key: str) -> str:
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(st.text(VISIBLE, min_size=1, max_size=255))
def test_every_key_of_visible_characters_can_be_quoted(key: str) -> None:
    assert read_key(quoted(key)) == key


@given(st.text(BARE, min_size=1, max_size=255), st.sampled_from(["", " ", "\t", "  "]))
def test_bare_and_quoted_are_the_same_key(key: str, space: str) -> None:
    assert read_key(f"{space}{key}{space}") == read_key(quoted(key)) == key


@given(st.text(max_size=300))
def test_whatever_a_header_holds_it_is_a_key_or_refused(header: str) -> None:
    try:
        key = read_key(header)
    except BadIdempotencyKey:
        return
    assert 1 <= len(key) <= 255
    assert set(key) <= set(VISIBLE)
    assert read_key(quoted(key)) == key


@pytest.mark.parametrize(
    "header",
    ["", " ", '""', '"open', 'shut"', 'a"b', "a\\b", '"a\\b"', '"a";p=1', '"a", "b"', "a b", "é", "a\x00b", "k" * 256],
)
def test_all_else_is_refused_with_what_is_allowed(header: str) -> None:
    with pytest.raises(BadIdempotencyKey) as refused:
        read_key(header)
    (field,) = refused.value.fields
    assert (field.field, field.allowed) == ("Idempotency-Key", {"minimum": 1, "maximum": 255})
