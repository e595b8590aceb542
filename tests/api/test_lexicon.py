"""A tenant's lexicon: said once, it is in every request from the next one on, in that tenant's alone."""

import pytest

from synth.models import Job, LexiconWord
from synth.service import lexicon
from tests.api.caller import Caller, problem, refused_fields

PLAIN = {"voice": "plain_a", "text": "Learn SQL."}
SEQUEL = {"text": "SQL", "alias": "sequel"}

pytestmark = pytest.mark.django_db


def save(caller: Caller, **word: str):
    return caller.client.post("/v1/lexicon", word, content_type="application/json")


def spoken_text() -> str:
    job = Job.objects.select_related("rendering").latest("created_at")
    return job.rendering.spec["text"]


@pytest.mark.django_db(transaction=True)
def test_it_acts_on_the_next_request_of_its_tenant_alone(owner: Caller, stranger: Caller) -> None:
    owner.speak(PLAIN)
    assert spoken_text() == "Learn SQL."
    assert save(owner, **SEQUEL).status_code == 201
    owner.speak(PLAIN)
    assert spoken_text() == "Learn sequel."
    stranger.speak(PLAIN)
    assert spoken_text() == "Learn SQL."
    (word,) = owner.get("/v1/lexicon").json()["results"]
    assert owner.delete(f"/v1/lexicon/{word['id']}").status_code == 204
    owner.speak(PLAIN | {"text": "Learn more SQL."})
    assert spoken_text() == "Learn more SQL."


def test_a_word_is_changed_by_saying_it_again(owner: Caller) -> None:
    first = save(owner, **SEQUEL).json()
    again = save(owner, text=" SQL ", alias="es queue el")
    assert (again.status_code, again.json()["id"], again.json()["value"]) == (200, first["id"], "es queue el")
    assert save(owner, **SEQUEL, language="en-GB").json()["language"] == "en"
    assert [word["language"] for word in owner.get("/v1/lexicon").json()["results"]] == ["", "en"]


def test_pinyin_is_kept_in_its_one_spelling(owner: Caller) -> None:
    word = save(owner, text="重庆", pinyin="Chóng QING4").json()
    assert (word["kind"], word["value"]) == ("pinyin", "chong2 qing4")


@pytest.mark.parametrize(
    ("word", "refused"),
    [
        ({}, {"": "not_a_pronunciation"}),
        ({"text": "SQL"}, {"": "not_a_pronunciation"}),
        ({"text": "SQL", "alias": "a", "ipa": "b"}, {"": "not_a_pronunciation"}),
        ({"text": "重", "pinyin": "chong9"}, {"": "not_a_pronunciation"}),
        ({**SEQUEL, "tone": "2"}, {"tone": "unknown_field"}),
        ({"text": "a" * 201, "alias": "b"}, {"text": "too_long"}),
        ({**SEQUEL, "language": 7}, {"language": "not_a_string"}),
    ],
)
def test_what_is_no_word_is_refused(owner: Caller, word: dict, refused: dict[str, str]) -> None:
    response = save(owner, **word)
    assert refused_fields(response) == refused
    assert not LexiconWord.objects.exists()


def test_a_lexicon_has_an_end(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicon, "MOST_WORDS", 2)
    assert [save(owner, text=text, alias="x").status_code for text in ("a", "b", "c")] == [201, 201, 422]
    assert problem(save(owner, text="c", alias="x"))["code"] == "lexicon_full"
    assert save(owner, text="b", alias="y").status_code == 200
    assert LexiconWord.objects.count() == 2


def test_a_text_that_aliases_make_too_long_is_refused(owner: Caller) -> None:
    save(owner, text="b", alias="c" * 200)
    response = owner.speak(PLAIN | {"text": "b " * 1_000})
    assert refused_fields(response) == {"text": "too_long"}
