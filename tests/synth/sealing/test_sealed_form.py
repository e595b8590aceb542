"""The sealed form of objects (scoreboard row E1): it opens with its own key and label alone, whole or by ranges."""

import pickle
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.sealing.format import (
    HEADER_BYTES,
    SEGMENT,
    Label,
    LabelKey,
    NotOpened,
    Opener,
    key_id_of,
    label_key,
    name_under,
    open_sealed,
    seal,
)
from synth.sealing.texts import open_text, seal_text
from tenants.encryption import PLATFORM, SealingKey, own_key

TENANT, OTHER_TENANT = UUID(int=1), UUID(int=2)
KEY = SealingKey(f"{PLATFORM}_{'a' * 32}", b"k" * 32)
LABEL = Label(TENANT, "tenant/ab/abcd.mp3", "audio/mpeg")
SIZES = st.one_of(
    st.integers(0, 300),
    st.sampled_from([SEGMENT - 1, SEGMENT, SEGMENT + 1, 2 * SEGMENT, 2 * SEGMENT + 7, 3 * SEGMENT]),
)
# Where each field of the header begins, and a place in the first segment and in the last tag.
FIELDS = {"version": 0, "key id": 1, "length": 37, "nonce": 45, "wrapped key": 57, "commitment": 105, "segment": 137}


def data_of(size: int) -> bytes:
    return bytes(number * 7 % 251 for number in range(size))


def opened(sealed: bytes, *, key: SealingKey = KEY, label: Label = LABEL) -> bytes:
    return open_sealed(sealed, label_key(key, label))


def sealed_of(size: int = 100, *, key: SealingKey = KEY, label: Label = LABEL) -> bytes:
    return seal(data_of(size), label_key(key, label))


@given(SIZES)
def test_what_is_sealed_opens(size):
    assert opened(sealed_of(size)) == data_of(size)


@settings(max_examples=60)
@given(SIZES, st.integers(0, 2**20), st.integers(0, 2**20))
def test_every_range_opens_alone(size, one, other):
    if not size:
        return
    start, end = sorted((one % size, other % size))
    sealed = sealed_of(size)
    opener = Opener(sealed[:HEADER_BYTES], label_key(KEY, LABEL))
    span = opener.span(start, end)
    read = sealed[span.start : span.end + 1]
    pieces = [read[at : at + 10_000] for at in range(0, len(read), 10_000)]
    plain = b"".join(opener.segments(iter(pieces), first=span.first, end=span.end))
    begins = span.first * SEGMENT
    assert plain[start - begins : end - begins + 1] == data_of(size)[start : end + 1]
    assert (opener.size, opener.sealed_size) == (size, len(sealed))


@settings(max_examples=200)
@given(st.sampled_from([0, 1, 100, SEGMENT, SEGMENT + 1]), st.integers(0, 2**30))
def test_one_bit_flipped_anywhere_opens_nothing(size, bit):
    altered = bytearray(sealed_of(size))
    place = bit % (8 * len(altered))
    altered[place // 8] ^= 1 << place % 8
    with pytest.raises(NotOpened):
        opened(bytes(altered))


@pytest.mark.parametrize("field", FIELDS)
def test_one_bit_flipped_in_each_field_opens_nothing(field):
    altered = bytearray(sealed_of())
    altered[FIELDS[field]] ^= 1
    with pytest.raises(NotOpened):
        opened(bytes(altered))


@given(st.sampled_from([0, 100, SEGMENT, 2 * SEGMENT]), st.integers(0, 2**20), st.booleans())
def test_what_is_cut_or_longer_opens_nothing(size, number, longer):
    sealed = sealed_of(size)
    changed = sealed + b"x" * (1 + number % 100) if longer else sealed[: number % len(sealed)]
    with pytest.raises(NotOpened):
        opened(changed)


def test_segments_cannot_change_places():
    sealed = sealed_of(2 * SEGMENT)
    whole = SEGMENT + 16
    head, first, second = sealed[:HEADER_BYTES], sealed[HEADER_BYTES:][:whole], sealed[HEADER_BYTES + whole :]
    with pytest.raises(NotOpened):
        opened(head + second + first)
    other = sealed_of(2 * SEGMENT)
    with pytest.raises(NotOpened):  # nor come from another object, though of the same key, label and length
        opened(head + first + other[HEADER_BYTES + whole :])


@pytest.mark.parametrize(
    "label",
    [
        Label(OTHER_TENANT, LABEL.name, LABEL.media_type),
        Label(TENANT, "tenant/ab/abce.mp3", LABEL.media_type),
        Label(TENANT, LABEL.name, "audio/wav"),
        Label(TENANT, LABEL.name + "audio", "/mpeg"),
    ],
)
def test_it_opens_under_no_other_tenant_name_or_type(label):
    with pytest.raises(NotOpened):
        opened(sealed_of(), label=label)


@given(st.binary(min_size=32, max_size=32).filter(lambda secret: secret != KEY.secret))
def test_it_opens_with_no_other_key_even_of_the_same_id(secret):
    with pytest.raises(NotOpened):
        opened(sealed_of(), key=SealingKey(KEY.id, secret))


def test_a_data_key_that_is_not_the_committed_one_opens_nothing():
    """Somebody who holds the tenant's key wraps a second data key into the header."""
    sealed, key = bytearray(sealed_of()), label_key(KEY, LABEL)
    from synth.sealing import format as form

    nonce = bytes(sealed[45:57])
    sealed[57:105] = AESGCM(key.secret).encrypt(nonce, b"d" * 32, form._bound(key, 100))
    with pytest.raises(NotOpened):
        opened(bytes(sealed))


def test_equal_bytes_are_sealed_differently_each_time():
    assert sealed_of() != sealed_of()
    assert data_of(100)[:16] not in sealed_of()


def test_the_header_names_the_key():
    assert key_id_of(sealed_of()[:HEADER_BYTES]) == KEY.id
    with pytest.raises(NotOpened):
        key_id_of(b"too short")


def test_names_differ_by_key_and_tell_no_digest():
    names = {name_under(key, "ab" * 32) for key in (KEY, SealingKey(KEY.id, b"o" * 32))}
    assert len(names) == 2
    assert "ab" * 32 not in names
    assert name_under(KEY, "ab" * 32) == name_under(KEY, "ab" * 32)


@given(st.text())
def test_texts_open_in_their_own_place_alone(text):
    sealed = seal_text(text, KEY, tenant=TENANT, name="rendering")
    assert open_text(sealed, KEY, tenant=TENANT, name="rendering") == text
    for wrong in ({"tenant": OTHER_TENANT, "name": "rendering"}, {"tenant": TENANT, "name": "entry"}):
        with pytest.raises(NotOpened):
            open_text(sealed, KEY, **wrong)


@pytest.mark.parametrize("sealed", ["", "?", "AAAA", "\u00e9"])
def test_what_is_no_sealed_text_does_not_open(sealed):
    with pytest.raises(NotOpened):
        open_text(sealed, KEY, tenant=TENANT, name="rendering")


def test_an_own_key_has_another_id_with_each_tenant():
    one, other = own_key(TENANT, b"s" * 32), own_key(OTHER_TENANT, b"s" * 32)
    assert one.id != other.id
    assert one.is_own


@pytest.mark.parametrize("key", [KEY, label_key(KEY, LABEL)], ids=["key", "label key"])
def test_keys_are_neither_shown_nor_pickled(key: SealingKey | LabelKey):
    assert "kkkk" not in repr(key)
    assert repr(key.secret) not in repr(key)
    with pytest.raises(TypeError):
        pickle.dumps(key)
