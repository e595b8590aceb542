"""Tokens: their form, their checksum, and who they verify."""

import dataclasses
import string
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from tenants import keys
from tenants.keys import KeyRecord, Kind, MintedKey

NOW = datetime(2026, 11, 30, tzinfo=UTC)
SECOND = timedelta(seconds=1)
PEPPERS = {1: "old", 3: "newest", 2: "older"}


def record_of(minted: MintedKey, **changes) -> KeyRecord:
    record = KeyRecord(
        id=uuid4(),
        tenant_id=uuid4(),
        lookup=minted.lookup,
        digest=minted.digest,
        pepper=minted.pepper,
        scopes=frozenset(),
        expires_at=None,
        revoked_at=None,
    )
    return dataclasses.replace(record, **changes)


def verifies(record: KeyRecord, token: str, peppers=PEPPERS) -> bool:
    return keys.matches(record, token, peppers=peppers) and record.usable_at(NOW)


@given(st.sampled_from(Kind))
def test_a_minted_token_shows_its_kind_and_parses(kind):
    minted = keys.mint(kind, PEPPERS)
    parsed = keys.parse(minted.token)
    assert minted.token.startswith(f"rfr_{kind}_")
    assert parsed is not None
    assert (parsed.kind, parsed.lookup) == (kind, minted.lookup)
    assert len(parsed.secret) * 5.95 >= 190


@given(st.text())
def test_any_text_is_no_token(text):
    assert keys.parse(text) is None


@given(st.text(alphabet=string.printable, max_size=80))
def test_a_prefix_alone_makes_no_token(text):
    assert keys.parse("rfr_live_" + text) is None


@given(st.integers(0, 10_000), st.sampled_from(keys.BASE62 + "_-é\n"))
def test_a_changed_character_is_noticed_without_a_lookup(place, character):
    token = keys.mint(Kind.LIVE, PEPPERS).token
    place %= len(token)
    changed = token[:place] + character + token[place + 1 :]
    assert (keys.parse(changed) is None) == (changed != token)


@given(st.integers(1, 80))
def test_a_cut_token_is_noticed(length):
    token = keys.mint(Kind.LIVE, PEPPERS).token
    assert keys.parse(token[:-length]) is None
    assert keys.parse(token + token[-length:]) is None


def test_the_checksum_is_crc32_in_base62():
    assert keys.checksum("") == "000000"
    digits = [keys.BASE62.index(digit) for digit in keys.checksum("123456789")]
    assert sum(digit * 62**power for power, digit in enumerate(reversed(digits))) == 0xCBF43926  # its check value


def test_no_two_keys_share_a_part():
    minted = [keys.mint(Kind.LIVE, PEPPERS) for _ in range(200)]
    assert len({key.lookup for key in minted}) == 200
    assert len({key.token.rsplit("_", 1)[1] for key in minted}) == 200


def test_a_minted_key_never_prints_its_token():
    minted = keys.mint(Kind.LIVE, PEPPERS)
    assert minted.token not in repr(minted)
    assert minted.digest not in repr(minted)


def test_the_newest_pepper_mints():
    minted = keys.mint(Kind.LIVE, PEPPERS)
    assert minted.pepper == 3
    assert minted.digest == keys.digest(minted.token, "newest")


def test_an_older_pepper_still_verifies_and_a_dropped_one_does_not():
    minted = keys.mint(Kind.LIVE, {1: "old"})
    assert verifies(record_of(minted), minted.token)
    assert not verifies(record_of(minted), minted.token, {2: "older", 3: "newest"})


def test_a_pepper_with_another_secret_does_not_verify():
    minted = keys.mint(Kind.LIVE, PEPPERS)
    assert not verifies(record_of(minted), minted.token, {3: "changed"})


def test_an_unknown_pepper_never_verifies_even_with_the_empty_secret():
    minted = keys.mint(Kind.LIVE, {7: ""})
    assert not verifies(record_of(minted), minted.token, PEPPERS)


@given(st.sampled_from(["lookup", "secret", "kind"]))
def test_another_token_does_not_verify(part):
    minted, other = keys.mint(Kind.LIVE, PEPPERS), keys.mint(Kind.TEST, PEPPERS)
    mine, theirs = keys.parse(minted.token), keys.parse(other.token)
    mixed = dataclasses.replace(mine, **{part: getattr(theirs, part)})
    body = f"rfr_{mixed.kind}_{mixed.lookup}_{mixed.secret}"
    token = body + keys.checksum(body)
    assert keys.parse(token) == mixed
    assert not verifies(record_of(minted), token)


def test_expiry_is_the_first_moment_of_refusal():
    minted = keys.mint(Kind.LIVE, PEPPERS)
    assert verifies(record_of(minted, expires_at=NOW + SECOND), minted.token)
    assert not verifies(record_of(minted, expires_at=NOW), minted.token)
    assert not verifies(record_of(minted, expires_at=NOW - SECOND), minted.token)


def test_a_revoked_key_does_not_verify():
    minted = keys.mint(Kind.LIVE, PEPPERS)
    assert not verifies(record_of(minted, revoked_at=NOW - SECOND), minted.token)


def test_nobody_verifies_no_token():
    assert not verifies(keys.NOBODY, keys.mint(Kind.LIVE, PEPPERS).token)
