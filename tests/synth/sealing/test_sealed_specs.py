"""What rows keep of requests: with a tenant's own key every word is sealed, and nothing else is."""

from dataclasses import replace
from uuid import UUID

import orjson
import pytest

from synth import codec
from synth.service import presented
from synth.service.renewing import Renewals
from synth.service.sealed_specs import from_row, to_row
from synth.spec import SpeechRequest
from synth.types import Emotion, Pronunciation, Segment, Spec
from tenants.encryption import EncryptionKeyRefused, EncryptionKeyRequired, own_key
from tenants.types import TenantRef
from tests.synth.queue.desk import spec

TENANT = TenantRef(UUID(int=7))
KEY = own_key(TENANT.id, b"s" * 32)
WORDS = ("Secret words.", "shout them", "gǎn dòng", "quietly")


def said() -> Spec:
    plain = spec(WORDS[0])
    manner = replace(
        plain.manner,
        encryption_key_id=KEY.id,
        emotion=Emotion(text=WORDS[1], reference="ref:1"),
        pronunciations=(Pronunciation("words", "pinyin", WORDS[2]),),
        options=(("instruction", WORDS[3]),),
    )
    return replace(plain, manner=manner)


@pytest.mark.parametrize("value", [said(), Segment(said().manner, WORDS[0])], ids=["spec", "segment"])
def test_no_word_is_in_the_row_and_all_come_back(value):
    with presented(KEY):
        row = to_row(TENANT, value, key="k")
        assert from_row(TENANT, type(value), row, key="k") == value
        for wrong in ("other", ""):
            with pytest.raises(EncryptionKeyRefused):
                from_row(TENANT, type(value), row, key=wrong)
    text = orjson.dumps(row).decode()
    assert not [word for word in WORDS if word in text]
    wordless = codec.from_json(type(value), row)
    assert (wordless.text, wordless.manner.voice, wordless.manner.encryption_key_id) == ("", "counting_a", KEY.id)
    assert wordless.manner.emotion.reference == "ref:1"
    with pytest.raises(EncryptionKeyRequired):
        from_row(TENANT, type(value), row, key="k")
    with presented(own_key(TENANT.id, b"o" * 32)), pytest.raises(EncryptionKeyRefused):
        from_row(TENANT, type(value), row, key="k")


@pytest.mark.parametrize("key_id", [None, f"dek_{'0' * 32}"])
def test_any_other_row_is_as_ever(key_id):
    plain = said()
    plain = replace(plain, manner=replace(plain.manner, encryption_key_id=key_id))
    assert to_row(TENANT, plain, key="k") == codec.to_json(plain)


def test_nothing_is_made_anew_behind_the_answer(monkeypatch):
    monkeypatch.setattr(Renewals, "_is_due", lambda *_: pytest.fail("it is seen to"))
    Renewals().ask(None, SpeechRequest(spec=said()), key="k", max_units=400, retention=None)
