"""What differs between IndexTTS 2 and 2.5: languages, speed, spelling of pronunciations, and files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from synth.engines import _indextts_text as texts
from synth.types import Pronunciation


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """`files` and `aux` are names in the model directory and in the directory of auxiliary models."""

    name: str
    module: str
    configs: tuple[str, ...]
    files: tuple[str, ...]
    aux: dict[str, str]
    half: str
    languages: tuple[str, ...]
    scripts: tuple[str, ...]
    spelling: Callable[[str, tuple[Pronunciation, ...]], str]
    takes_aux_paths: bool
    has_unknown_tokens: bool
    has_speed: bool

    def arguments(self, language: str, speed: float) -> dict[str, Any]:
        """What `infer` of this release alone takes."""
        # A longer sound is a slower one.
        return {"lang": language, "duration_factor": 1 / speed} if self.has_speed else {}


TWO = Release(
    name="2",
    module="indextts.infer_v2",
    configs=("config.yaml",),
    files=("gpt.pth", "s2mel.pth", "bpe.model", "wav2vec2bert_stats.pt", "feat1.pt", "feat2.pt"),
    aux={
        "w2v_bert": "w2v-bert-2.0",
        "semantic_codec": "semantic_codec_model.safetensors",
        "campplus": "campplus_cn_common.bin",
        "bigvgan": "bigvgan",
    },
    half="use_fp16",
    languages=("zh", "en"),
    scripts=("Hani", "Latn"),
    spelling=texts.inline,
    takes_aux_paths=True,
    has_unknown_tokens=True,
    has_speed=False,
)

# Its tokens are bytes, so that it has none for any letter; these are the languages that upstream names.
TWO_AND_A_HALF = Release(
    name="2.5",
    module="indextts.infer_v2_5",
    configs=("config_v2_5.yaml", "config.yaml"),
    files=(
        "gpt.pth",
        "s2mel.pth",
        "codec.pth",
        "multilingual_zh_ja_yue_char_del.tiktoken",
        "wav2vec2bert_stats.pt",
        "feat1.pt",
        "feat2.pt",
    ),
    aux={"w2v_bert": "w2v-bert-2.0", "campplus": "campplus_cn_common.bin", "bigvgan": "bigvgan"},
    half="use_bf16",
    languages=("zh", "en", "ja", "es", "ar"),
    scripts=("Hani", "Latn", "Hira", "Kana", "Arab"),
    spelling=texts.marked,
    takes_aux_paths=False,
    has_unknown_tokens=False,
    has_speed=True,
)

# What only 2.5 has beside its weights.
MARK = "codec.pth"
