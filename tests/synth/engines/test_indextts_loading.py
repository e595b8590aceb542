"""What keeps IndexTTS from being loaded is said before anything is: settings, files, digests, parts that do not fit."""

import hashlib
from pathlib import Path

import pytest

from synth.engines import _indextts_files as files
from synth.engines._indextts_loading import Fit, check_fits
from synth.engines._indextts_release import TWO, TWO_AND_A_HALF, Release
from synth.engines.indextts import load
from synth.errors import EngineUnavailable


def set_up(root: Path, release: Release = TWO) -> dict[str, str]:
    """A checkout and weights in name only."""
    code, model = root / "code", root / "model"
    names = [f"code/{release.module.replace('.', '/')}.py", "code/checkpoints/pinyin.vocab"]
    names += [f"model/{name}" for name in (release.configs[0], *release.files)]
    names += [f"model/hf_cache/{name}" for name in release.aux.values() if "." in name and "-2.0" not in name]
    names += [f"model/hf_cache/{name}" for name in ("w2v-bert-2.0/config.json", "bigvgan/config.json")]
    for name in (*names, "model/hf_cache/bigvgan/bigvgan_generator.pt"):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{name}\n")
    return {"code": str(code), "model_dir": str(model)}


def reason(options: dict[str, str]) -> str:
    with pytest.raises(EngineUnavailable) as caught:
        load(options=options)
    return caught.value.detail


@pytest.mark.parametrize("release", [TWO, TWO_AND_A_HALF], ids=["2", "2.5"])
def test_the_release_is_told_by_its_files(tmp_path: Path, release: Release) -> None:
    found = files.places(set_up(tmp_path, release))
    assert found.release is release
    assert found.config.name == release.configs[0]


def test_a_setting_that_is_missing_or_wrong_is_named(tmp_path: Path) -> None:
    options = set_up(tmp_path)
    assert "REFRAIN_INDEXTTS_CODE" in reason({})
    assert "REFRAIN_INDEXTTS_MODEL_DIR" in reason({"code": options["code"]})
    assert "REFRAIN_INDEXTTS_MODEL_DIR" in reason(options | {"model_dir": str(tmp_path / "nowhere")})
    assert "REFRAIN_INDEXTTS_CODE" in reason(options | {"code": options["model_dir"]})


@pytest.mark.parametrize(
    "name", ["gpt.pth", "s2mel.pth", "bpe.model", "hf_cache/campplus_cn_common.bin", "hf_cache/bigvgan/config.json"]
)
def test_a_file_that_upstream_would_download_or_stumble_over_is_named(tmp_path: Path, name: str) -> None:
    options = set_up(tmp_path)
    (tmp_path / "model" / name).unlink()
    assert name in reason(options)


def test_the_auxiliary_models_of_two_may_lie_elsewhere_and_those_of_two_and_a_half_may_not(tmp_path: Path) -> None:
    options = set_up(tmp_path / "two")
    moved = (tmp_path / "two/model/hf_cache").rename(tmp_path / "aux")
    assert files.places(options | {"aux_dir": str(moved)}).aux == moved
    newer = set_up(tmp_path / "newer", TWO_AND_A_HALF)
    assert "hf_cache" in reason(newer | {"aux_dir": str(moved)})


def test_emotions_by_text_need_their_model(tmp_path: Path) -> None:
    assert files.EMOTION_MODEL in reason(set_up(tmp_path) | {"emotion_text": "yes"})


def test_the_digest_changes_with_any_file_and_not_with_the_place(tmp_path: Path) -> None:
    digests = set()
    for name in ("one", "two"):
        digests.add(files.digest_of_weights(files.places(set_up(tmp_path / name))))
    assert len(digests) == 1
    for file in ("gpt.pth", "hf_cache/w2v-bert-2.0/config.json", "config.yaml"):
        (tmp_path / "two/model" / file).write_text("other")
        digests.add(files.digest_of_weights(files.places({"code": str(tmp_path / "two/code"), "model_dir": str(tmp_path / "two/model")})))  # fmt: skip  # noqa: E501
    assert len(digests) == 4


def test_another_commit_of_upstreams_code_is_another_version(tmp_path: Path) -> None:
    code = Path(set_up(tmp_path)["code"])
    before = files.digest_of_code(code)
    (code / "indextts" / "infer_v2.py").write_text("changed")
    assert files.digest_of_code(code) != before


@pytest.mark.parametrize("where", ["beside the weights", "elsewhere"])
def test_weights_are_held_to_the_digests_that_are_given(tmp_path: Path, where: str) -> None:
    options = set_up(tmp_path)
    weights = tmp_path / "model" / "gpt.pth"
    sums = tmp_path / ("model/SHA256SUMS" if where == "beside the weights" else "sums")
    sums.write_text(f"{hashlib.sha256(weights.read_bytes()).hexdigest()}  gpt.pth\n")
    given = "" if where == "beside the weights" else str(sums)
    files.digest_of_weights(files.places(options), given)
    weights.write_text("of another model")
    assert "gpt.pth" in reason(options | {"digests": given})
    sums.write_text("no digest\nat all of it\nx\n")
    assert "sha256sum" in reason(options | {"digests": given})


def test_a_part_that_lacks_many_of_its_parameters_is_refused_by_name_and_number() -> None:
    check_fits({"gpt.pth": Fit(100, 5), "s2mel.pth (cfm)": Fit(40, 0)})
    with pytest.raises(EngineUnavailable, match=r"s2mel.pth \(cfm\).* 3 of 40"):
        check_fits({"gpt.pth": Fit(100, 0), "s2mel.pth (cfm)": Fit(40, 3)})
