"""The signature of a file URL: holds for exactly one name until exactly one second, and survives a change of key."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from synth.storage.files import UrlExpired, UrlInvalid, UrlSigner

NAMES = st.from_regex(r"[a-z0-9]{1,8}/[a-z0-9]{1,8}\.mp3", fullmatch=True)
FUTURE = st.integers(min_value=int(time.time()) + 3600, max_value=2**40)
SIGNER = UrlSigner("a-signing-key-for-tests")


@given(name=NAMES, expires=FUTURE)
def test_a_signature_holds_for_what_was_signed(name, expires):
    assert SIGNER.verify(name, expires=str(expires), signature=SIGNER.sign(name, expires)) == expires


@given(name=NAMES, other=NAMES, expires=FUTURE, later=FUTURE)
def test_a_signature_holds_for_nothing_else(name, other, expires, later):
    assume((name, expires) != (other, later))
    with pytest.raises(UrlInvalid):
        SIGNER.verify(other, expires=str(later), signature=SIGNER.sign(name, expires))


@given(expires=st.text(max_size=20), signature=st.text(max_size=50))
def test_whatever_stands_in_the_address_is_refused_not_a_crash(expires, signature):
    with pytest.raises(UrlInvalid):
        SIGNER.verify("a/b.mp3", expires=expires, signature=signature)


@pytest.mark.parametrize("spelling", ["0{}", "+{}", " {}", "{}.0", "{}_0"])
def test_another_spelling_of_the_same_second_is_refused(spelling):
    expires = int(time.time()) + 60
    with pytest.raises(UrlInvalid):
        SIGNER.verify("a/b.mp3", expires=spelling.format(expires), signature=SIGNER.sign("a/b.mp3", expires))


def test_a_signature_ends_at_its_second():
    expires = int(time.time())
    with pytest.raises(UrlExpired):
        SIGNER.verify("a/b.mp3", expires=str(expires), signature=SIGNER.sign("a/b.mp3", expires))


def test_a_previous_key_still_verifies_and_no_longer_signs():
    expires = int(time.time()) + 60
    old, new = UrlSigner("the-old-signing-key"), UrlSigner("the-new-signing-key", previous_key="the-old-signing-key")
    assert new.verify("a/b.mp3", expires=str(expires), signature=old.sign("a/b.mp3", expires)) == expires
    with pytest.raises(UrlInvalid):
        old.verify("a/b.mp3", expires=str(expires), signature=new.sign("a/b.mp3", expires))
