"""The double's doors: `AutoModel` by the name of the yaml, and the methods that speak."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from cosyvoice.cli.frontend import CosyVoiceFrontEnd
from cosyvoice.cli.model import CosyVoice3Model, CosyVoiceModel

logging.basicConfig(level=logging.DEBUG)
logging.getLogger().setLevel(logging.DEBUG)


def tqdm(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        print("100%|##########|", file=sys.stderr)
        yield piece


class CosyVoice:
    sample_rate, hop, made = 22050, None, CosyVoiceModel

    def __init__(self, model_dir: str, fp16: bool = False) -> None:
        self.model_dir, self.fp16 = model_dir, fp16
        self.frontend = CosyVoiceFrontEnd(model_dir)
        self.model = self.made(self.sample_rate, hop=self.hop)

    def add_zero_shot_spk(self, prompt_text: str, prompt_wav: str, zero_shot_spk_id: str) -> bool:
        assert zero_shot_spk_id != "", "do not use empty zero_shot_spk_id"
        entry = self.frontend.frontend_zero_shot("", prompt_text, prompt_wav, "")
        del entry["text"], entry["text_len"]
        self.frontend.spk2info[zero_shot_spk_id] = entry
        return True

    def save_spkinfo(self) -> None:
        raise AssertionError("it would write into the model's directory")

    def inference_sft(
        self, tts_text: str, spk_id: str, stream: bool = False, speed: float = 1.0, text_frontend: bool = True
    ) -> Iterator[dict[str, Any]]:
        for piece in tqdm(self.frontend.text_normalize(tts_text, True, text_frontend)):
            yield from self._tts(piece, self.frontend.frontend_sft(piece, spk_id), stream, speed)

    def inference_zero_shot(
        self, tts_text: str, prompt_text: str, prompt_wav: str, zero_shot_spk_id: str = "",
        stream: bool = False, speed: float = 1.0, text_frontend: bool = True,
    ) -> Iterator[dict[str, Any]]:  # fmt: skip
        prompt_text = self.frontend.text_normalize(prompt_text, False, text_frontend)
        for piece in tqdm(self.frontend.text_normalize(tts_text, True, text_frontend)):
            logging.warning("synthesis text %s too short than prompt text %s", piece, prompt_text)
            known = self.frontend.frontend_zero_shot(piece, prompt_text, prompt_wav, zero_shot_spk_id)
            yield from self._tts(piece, known, stream, speed)

    def inference_cross_lingual(
        self, tts_text: str, prompt_wav: str, zero_shot_spk_id: str = "",
        stream: bool = False, speed: float = 1.0, text_frontend: bool = True,
    ) -> Iterator[dict[str, Any]]:  # fmt: skip
        for piece in tqdm(self.frontend.text_normalize(tts_text, True, text_frontend)):
            known = self.frontend.frontend_cross_lingual(piece, prompt_wav, zero_shot_spk_id)
            yield from self._tts(piece, known, stream, speed)

    def inference_instruct(
        self, tts_text: str, spk_id: str, instruct_text: str,
        stream: bool = False, speed: float = 1.0, text_frontend: bool = True,
    ) -> Iterator[dict[str, Any]]:  # fmt: skip
        assert type(self).__name__ == "CosyVoice", "inference_instruct is only implemented for CosyVoice!"
        for piece in tqdm(self.frontend.text_normalize(tts_text, True, text_frontend)):
            known = self.frontend.frontend_instruct(piece, spk_id, instruct_text)
            yield from self._tts(piece, known, stream, speed)

    def _tts(self, piece: str, known: dict[str, Any], stream: bool, speed: float) -> Iterator[dict[str, Any]]:
        logging.info("synthesis text %s", piece)
        known.pop("text_len")
        yield from self.model.tts(**known, stream=stream, speed=speed)


class CosyVoice2(CosyVoice):
    sample_rate, hop = 24000, 8

    def inference_instruct2(
        self, tts_text: str, instruct_text: str, prompt_wav: str, zero_shot_spk_id: str = "",
        stream: bool = False, speed: float = 1.0, text_frontend: bool = True,
    ) -> Iterator[dict[str, Any]]:  # fmt: skip
        for piece in tqdm(self.frontend.text_normalize(tts_text, True, text_frontend)):
            known = self.frontend.frontend_instruct2(piece, instruct_text, prompt_wav, zero_shot_spk_id)
            yield from self._tts(piece, known, stream, speed)


class CosyVoice3(CosyVoice2):
    made = CosyVoice3Model


def AutoModel(**kwargs: Any) -> CosyVoice:  # noqa: N802 - upstream's name
    directory = kwargs["model_dir"]
    assert os.path.exists(directory), "it would download"  # noqa: PTH110
    kinds = {"cosyvoice.yaml": CosyVoice, "cosyvoice2.yaml": CosyVoice2, "cosyvoice3.yaml": CosyVoice3}
    for name, kind in kinds.items():
        if os.path.exists(f"{directory}/{name}"):  # noqa: PTH110
            return kind(**kwargs)
    raise TypeError("No valid model type found!")
