"""IndexTTS's adapter: voices, seeds, emotions, pinyin and failures, over a stand-in with upstream's odd habits."""

import gc
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from synth.engines._indextts_emotion import MOST
from synth.engines.base import pieces
from synth.engines.indextts import IndexTTS
from synth.errors import Permanent, Retryable
from synth.types import Emotion, Pronunciation
from tests.synth.engines import indextts_double as double
from tests.synth.engines.indextts_asking import TEXT, said, segment

ANNA, BO, ANGRY = double.reference(200), double.reference(400), double.reference(900)


def made(name: str = "2", **how: Any) -> tuple[IndexTTS, Any]:
    loaded = double.loaded(name, **how)
    return IndexTTS(loaded), loaded.model


def refused(engine: IndexTTS, *args: Any, **manner: Any) -> Permanent:
    with pytest.raises(Permanent) as caught:
        said(engine, ANNA, *args, **manner)
    return caught.value


# Voices


def test_each_reference_speaks_with_its_own_voice_in_any_order() -> None:
    engine, _ = made()
    alone = {who.fingerprint: said(made()[0], who).samples for who in (ANNA, BO)}
    for who in (ANNA, BO, ANNA, ANNA, BO):
        assert np.array_equal(said(engine, who).samples, alone[who.fingerprint])
    assert not np.array_equal(alone[ANNA.fingerprint], alone[BO.fingerprint])


def test_a_reference_is_worked_out_once_while_it_is_kept() -> None:
    engine, model = made()
    for who in (ANNA, BO, ANNA, BO):
        said(engine, who)
    assert len(model.read) == 4  # each once as the speaker and once as its own emotion


def test_the_kept_voices_are_bounded() -> None:
    engine, model = made(voices_kept=2)
    many = [double.reference(100 + 50 * number) for number in range(4)]
    for who in many:
        said(engine, who)
    read = len(model.read)
    said(engine, many[-1])
    assert len(model.read) == read
    said(engine, many[0])
    assert len(model.read) > read


def test_no_file_of_a_reference_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    engine, model = made()
    said(engine, ANNA)
    with pytest.raises(Retryable):
        said(engine, BO, double.DUMB)
    assert model.read
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o077 == 0


def test_after_a_failure_the_next_voice_is_the_right_one() -> None:
    engine, _ = made()
    said(engine, ANNA)
    with pytest.raises(Retryable):
        said(engine, BO, double.DUMB)
    assert np.array_equal(said(engine, BO).samples, said(made()[0], BO).samples)


def test_only_the_first_fifteen_seconds_of_a_reference_count() -> None:
    engine, model = made()
    long = double.reference(200, seconds=20)
    said(engine, long)
    read = len(model.read)
    said(engine, double.reference(200, seconds=16))
    assert len(model.read) == read


def test_without_its_reference_a_voice_is_unknown() -> None:
    engine, _ = made()
    with pytest.raises(Permanent) as caught:
        engine.synthesize(segment(ANNA), {BO.fingerprint: BO})
    assert caught.value.code == "unknown_voice"


# Seeds


def test_a_seed_repeats_whether_or_not_the_reference_was_known() -> None:
    engine, _ = made()
    first = said(engine, ANNA, seed=5).samples
    assert np.array_equal(first, said(engine, ANNA, seed=5).samples)
    assert not np.array_equal(first, said(engine, ANNA, seed=6).samples)


def test_the_callers_seed_is_the_one_that_is_set() -> None:
    engine, model = made()
    said(engine, ANNA, seed=77)
    assert model.draws.seeds == [77]


def test_without_a_seed_equal_segments_sound_equal_and_others_draw_others() -> None:
    engine, model = made()
    assert np.array_equal(said(engine, ANNA).samples, said(engine, ANNA).samples)
    said(engine, ANNA, "另外一句话。")
    assert model.draws.seeds[0] == model.draws.seeds[1] != model.draws.seeds[2]


def test_a_model_that_says_nothing_is_asked_with_other_seeds_unless_one_is_set() -> None:
    engine, model = made()
    with pytest.raises(Retryable) as caught:
        said(engine, ANNA, double.DUMB)
    assert caught.value.code == "no_speech"
    assert len(set(model.draws.seeds)) == 3
    model.draws.seeds.clear()
    with pytest.raises(Retryable) as caught:
        said(engine, ANNA, double.DUMB, seed=1)
    assert caught.value.code == "no_speech"
    assert model.draws.seeds == [1]


def test_a_fickle_text_is_spoken_with_the_seed_that_works() -> None:
    engine, model = made()
    assert said(engine, ANNA, double.FICKLE).duration > 0
    assert len(set(model.draws.seeds)) == 3


# Emotions


@pytest.mark.parametrize("release", ["2", "2.5"])
def test_each_way_of_an_emotion_reaches_the_model(release: str) -> None:
    engine, model = made(release, reads_emotion=True)
    plain = said(engine, ANNA, seed=1).samples
    ways = (
        Emotion(name="happy"),
        Emotion(vector=(0, 0, 0.5, 0, 0, 0, 0, 0.1)),
        Emotion(text="很难过"),
        Emotion(reference=ANGRY.fingerprint),
    )
    for emotion in ways:
        felt = said(engine, ANNA, seed=1, emotion=emotion, others=(ANGRY,)).samples
        assert not np.array_equal(felt, plain)
    assert [asked["emo_vector"] for asked in model.asked] == [
        None,
        [0.8, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0.5, 0, 0, 0, 0, 0.1],
        [0, 0, 0.6, 0, 0, 0, 0, 0.2],
        None,
    ]


def test_strength_scales_a_vector_and_blends_a_reference() -> None:
    engine, model = made(reads_emotion=True)
    said(engine, ANNA, emotion=Emotion(name="angry", strength=0.5))
    said(engine, ANNA, emotion=Emotion(text="生气", strength=0.5))
    said(engine, ANNA, emotion=Emotion(reference=ANGRY.fingerprint, strength=0.5), others=(ANGRY,))
    assert model.asked[0]["emo_vector"] == [0, 0.4, 0, 0, 0, 0, 0, 0]
    assert sum(model.asked[1]["emo_vector"]) == pytest.approx(MOST / 2)
    assert model.asked[2]["emo_alpha"] == 0.5


def test_a_reference_for_the_emotion_changes_it_and_not_the_speaker() -> None:
    engine, model = made()
    plain = said(engine, ANNA, seed=1).samples
    said(engine, ANNA, seed=1, emotion=Emotion(reference=ANGRY.fingerprint), others=(ANGRY,))
    assert model.cache_spk_cond != model.cache_emo_cond
    assert np.array_equal(said(engine, ANNA, seed=1).samples, plain)


@pytest.mark.parametrize(
    "emotion",
    [
        Emotion(name="happy", vector=(0.1,) * 8),
        Emotion(vector=(0.5, 0.4, 0, 0, 0, 0, 0, 0)),
        Emotion(vector=(0.1,) * 7),
        Emotion(vector=(-0.1, 0, 0, 0, 0, 0, 0, 0)),
        Emotion(name="bored"),
        Emotion(text="很难过"),
        Emotion(),
    ],
    ids=["two ways", "sum", "length", "negative", "name", "text without its model", "none"],
)
def test_an_emotion_that_it_has_not_is_refused_and_never_changed(emotion: Emotion) -> None:
    engine, model = made()
    assert refused(engine, emotion=emotion).code == "unsupported_control"
    assert model.asked == []


def test_a_reference_of_the_emotion_that_is_not_given_is_refused() -> None:
    assert refused(made()[0], emotion=Emotion(reference=ANGRY.fingerprint)).code == "unknown_voice"


# Pinyin


def test_pinyin_is_spelt_as_each_version_wants_it() -> None:
    pronounced = (Pronunciation("银行", "pinyin", "yin2 hang2"), Pronunciation("行", "pinyin", "xing2"))
    wanted = {"2": "去YIN2 HANG2办XING2。", "2.5": "去<银行|YIN2 HANG2>办<行|XING2>。"}
    for release, text in wanted.items():
        engine, model = made(release)
        said(engine, ANNA, "去银行办行。", pronunciations=pronounced)
        assert model.asked[0]["text"] == text


def test_an_unknown_syllable_is_refused_by_its_name() -> None:
    engine, _ = made()
    error = refused(engine, pronunciations=(Pronunciation("天", "pinyin", "tien1"),))
    assert error.code == "unknown_syllable"
    assert "tien1" in error.detail


def test_the_card_has_the_vocabulary_as_requests_spell_it() -> None:
    syllables = made()[0].card.syllables
    assert {"xing2", "jv2", "ju2", "lv4", "de5"} <= set(syllables)
    assert "lu4" not in syllables
    engine, model = made()
    said(engine, ANNA, "居。", pronunciations=(Pronunciation("居", "pinyin", "ju2"),))
    assert model.asked[0]["text"] == "JV2。"


def test_pinyin_is_for_chinese_and_ipa_for_nobody() -> None:
    engine, _ = made()
    for said_so in (Pronunciation("go", "ipa", "ɡəʊ"), Pronunciation("go", "pinyin", "xing2")):
        assert refused(engine, "Let us go.", language="en", pronunciations=(said_so,)).code == "unsupported_control"


# Text


@pytest.mark.parametrize("text", ["说<|en|>话", "说＜｜en｜＞话", "银<行|XING2>", "他<n_a>说", "<pinyin_a>好"])
@pytest.mark.parametrize("release", ["2", "2.5"])
def test_a_text_cannot_give_the_engine_commands(release: str, text: str) -> None:
    engine, model = made(release)
    alias = (Pronunciation("天", "alias", text),)
    assert refused(engine, text).code == refused(engine, pronunciations=alias).code == "unspeakable_text"
    assert model.asked == []


def test_an_alias_is_said_in_the_place_of_its_text() -> None:
    engine, model = made()
    said(engine, ANNA, "去SQL公园。", pronunciations=(Pronunciation("SQL", "alias", "sequel"),))
    assert model.asked[0]["text"] == "去sequel公园。"


def test_a_character_without_a_token_is_refused_and_punctuation_without_one_is_not() -> None:
    engine, _ = made()
    error = refused(engine, f"三个{double.RARE}字。")
    assert error.code == "unspeakable_text"
    assert double.RARE not in str(error)
    assert said(engine, ANNA, "三个▁字。").duration > 0


def test_speed_is_a_duration_factor_in_two_and_a_half_and_refused_in_two() -> None:
    engine, model = made("2.5")
    said(engine, ANNA, speed=2.0)
    assert model.asked[0]["duration_factor"] == 0.5
    assert model.asked[0]["lang"] == "zh"
    assert refused(made("2")[0], speed=2.0).code == "unsupported_control"


def test_nothing_of_a_text_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    engine, _ = made(reads_emotion=True)
    said(engine, ANNA, emotion=Emotion(text="很难过"))
    with pytest.raises(Retryable):
        said(engine, ANNA, double.DUMB)
    out, err = capfd.readouterr()
    assert out == ""
    assert "公园" not in err


# Pieces


def test_pieces_joined_are_the_whole_and_have_pauses_between_them_only() -> None:
    engine, _ = made()
    long = "今天我们去公园散步吧" * 30
    parts = list(pieces(engine, segment(ANNA, long), {ANNA.fingerprint: ANNA}))
    assert len(parts) == 3
    assert np.array_equal(np.concatenate([part.samples for part in parts]), said(engine, ANNA, long).samples)
    assert not np.any(parts[1].samples[: int(0.19 * double.RATE)])
    assert np.any(parts[-1].samples[-int(0.19 * double.RATE) :])


def test_who_leaves_in_the_middle_keeps_nobody_waiting() -> None:
    engine, _ = made()
    spoken = pieces(engine, segment(ANNA, TEXT * 30), {ANNA.fingerprint: ANNA})
    next(spoken)
    spoken.close()  # type: ignore[attr-defined]
    assert np.array_equal(said(engine, BO).samples, said(made()[0], BO).samples)


def test_threads_take_turns() -> None:
    engine, _ = made()
    alone = {who.fingerprint: said(made()[0], who).samples for who in (ANNA, BO)}
    wrong: list[str] = []

    def speak(number: int) -> None:
        who = (ANNA, BO)[number % 2]
        if not np.array_equal(said(engine, who).samples, alone[who.fingerprint]):
            wrong.append(who.fingerprint)

    threads = [threading.Thread(target=speak, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert not any(thread.is_alive() for thread in threads)


# Failures


def test_out_of_memory_is_told_as_such_and_what_is_kept_can_be_given_back() -> None:
    loaded = double.loaded()
    engine = IndexTTS(loaded)
    said(engine, ANNA)
    loaded.model.starve = 1
    with pytest.raises(Retryable) as caught:
        said(engine, ANNA, double.STARVED)
    assert caught.value.code == "out_of_memory"
    assert len(loaded.model.draws.seeds) == 2, "the worker tries again, once memory is given back"
    engine.release_memory()
    assert loaded.numbers.freed == 1  # type: ignore[attr-defined]
    read = len(loaded.model.read)
    assert said(engine, ANNA, double.STARVED).duration > 0
    assert len(loaded.model.read) == read + 2


def test_an_unloaded_engine_holds_its_model_no_more() -> None:
    loaded = double.loaded()
    engine, model = IndexTTS(loaded), weakref.ref(loaded.model)
    said(engine, ANNA)
    del loaded
    engine.unload()
    gc.collect()
    assert model() is None


def test_a_lost_device_is_told_at_once() -> None:
    engine, model = made()
    with pytest.raises(Retryable) as caught:
        said(engine, ANNA, double.WEDGED)
    assert caught.value.code == "device_lost"
    assert len(model.draws.seeds) == 1


def test_errors_hold_none_of_the_text() -> None:
    engine, _ = made()
    with pytest.raises(Retryable) as caught:
        said(engine, ANNA, double.DUMB)
    assert double.DUMB not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
