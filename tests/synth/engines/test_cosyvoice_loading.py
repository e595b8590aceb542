"""What CosyVoice refuses to load, and what loading it leaves behind in the process."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

import pytest

from synth.engines.cosyvoice import CosyVoice
from synth.errors import EngineUnavailable
from tests.synth.engines.cosyvoice import CODE, SENTENCE, Double, double, said

__all__ = ["double"]


@pytest.mark.parametrize("missing", ["code", "model_dir"])
def test_a_directory_that_is_missing_is_refused_before_upstream_would_download_it(double: Double, missing: str) -> None:
    options = {"code": str(CODE), "model_dir": str(double.model_dir()), missing: "/nowhere/CosyVoice-300M"}
    with pytest.raises(EngineUnavailable, match=f"REFRAIN_COSYVOICE_{missing.upper()}.*/nowhere"):
        CosyVoice(threads=1, options=options)


def test_what_is_not_set_is_told_by_the_name_of_its_setting() -> None:
    with pytest.raises(EngineUnavailable, match="REFRAIN_COSYVOICE_CODE is not set"):
        CosyVoice(threads=1, options={})


@pytest.mark.parametrize("name", ["cosyvoice.yaml", "llm.pt", "campplus.onnx", "speech_tokenizer_v1.onnx"])
def test_a_model_without_one_of_its_files_is_refused_with_the_file(double: Double, name: str) -> None:
    directory = double.model_dir()
    (directory / name).unlink()
    with pytest.raises(EngineUnavailable, match=name):
        CosyVoice(threads=1, options={**double.options, "model_dir": str(directory)})


def test_a_checkout_without_its_submodule_is_refused(double: Double, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(CODE, checkout, ignore=shutil.ignore_patterns("third_party"))
    with pytest.raises(EngineUnavailable, match="submodules"):
        double.load(code=str(checkout))


@pytest.mark.parametrize(
    ("option", "value"), [("device", "tpu"), ("fp16", "maybe"), ("stream", "2"), ("variant", "base")]
)
def test_an_unknown_value_of_a_setting_is_refused(double: Double, option: str, value: str) -> None:
    with pytest.raises(EngineUnavailable, match=f"REFRAIN_COSYVOICE_{option.upper()}"):
        double.load(**{option: value})


def test_a_gpu_that_was_asked_for_and_is_not_there_is_told(double: Double) -> None:
    with pytest.raises(EngineUnavailable, match="no GPU was found"):
        double.load(device="cuda")


@pytest.mark.parametrize(("device", "seen"), [("cpu", ""), ("auto", "0")])
def test_on_a_cpu_no_gpu_is_shown_to_upstream_which_would_take_it(double: Double, device: str, seen: str) -> None:
    double.load(device=device)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == seen


def test_a_release_without_the_job_that_is_watched_is_refused(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    double.load()
    monkeypatch.delattr(double.module("cosyvoice.cli.model").CosyVoiceModel, "llm_job")
    with pytest.raises(EngineUnavailable, match="llm_job"):
        double.load(name="second-SFT")


def test_the_root_logger_is_as_it_was(double: Double) -> None:
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    handlers = root.handlers[:]
    double.load()
    assert root.level == logging.WARNING
    assert root.handlers == handlers


def test_nothing_that_upstream_logs_or_draws_reaches_anybody(
    double: Double, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    engine = double.load()
    with caplog.at_level(logging.DEBUG):
        engine.synthesize(said(engine))
        logging.getLogger().warning("somebody else's line")
    assert [record.message for record in caplog.records] == ["somebody else's line"]
    assert SENTENCE[:4] not in "".join(capfd.readouterr())


def test_the_model_version_follows_weights_and_settings_but_not_the_voices(double: Double) -> None:
    first = double.load(name="a-SFT").card.model_version
    same = double.load(name="b-SFT", voices={"中文女": {"embedding": [[0.9, 0.9]]}}).card.model_version
    assert first == same
    other = double.model_dir(name="c-SFT")
    (other / "flow.pt").write_text("trained further")
    options = {**double.options, "model_dir": str(other)}
    assert CosyVoice(threads=1, options=options).card.model_version != first
    assert double.load(name="d-SFT", stream="yes").card.model_version != first


def test_threads_are_those_of_the_worker(double: Double) -> None:
    directory = double.model_dir()
    CosyVoice(threads=3, options={**double.options, "model_dir": str(directory)})
    assert double.module("torch").threads == 3
