"""The double's front end: texts to tokens, files to speakers."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

LONGEST = 30
extracted: list[str] = []


def load_wav(wav: str, target_sr: int, min_sr: int = 16000) -> Tensor:
    raise RuntimeError("torchaudio.load needs a package that is not there")


class CosyVoiceFrontEnd:
    text_frontend = ""

    def __init__(self, model_dir: str) -> None:
        voices = json.loads(Path(model_dir, "spk2info.pt").read_text())
        self.spk2info: dict[str, dict[str, Tensor]] = {
            name: {key: Tensor(np.array(value, np.float32)) for key, value in entry.items()}
            for name, entry in voices.items()
        }

    def _extract_text_token(self, text: str) -> tuple[Tensor, Tensor]:
        tokens = [ord(char) for char in text]
        return Tensor(np.array([tokens], np.int32)), Tensor(np.array([len(tokens)], np.int32))

    def text_normalize(self, text: str, split: bool = True, text_frontend: bool = True) -> Any:
        if "<|" in text and "|>" in text:
            text_frontend = False
        if text_frontend is False or text == "":
            return [text] if split else text
        text = text.strip()
        if text[-1] not in "。？！.?!":  # blanks alone: IndexError
            text += "."
        pieces = [piece for piece in re.findall(r"[^。？！.?!]*[。？！.?!]+", text) if re.search(r"\w", piece)]
        return pieces if split else text

    def frontend_sft(self, text: str, spk_id: str) -> dict[str, Any]:
        tokens, length = self._extract_text_token(text)
        embedding = self.spk2info[spk_id]["embedding"]
        return {"text": tokens, "text_len": length, "llm_embedding": embedding, "flow_embedding": embedding}

    def frontend_zero_shot(self, text: str, prompt_text: str, prompt_wav: str, spk_id: str) -> dict[str, Any]:
        tokens, length = self._extract_text_token(text)
        # A known speaker keeps its own prompt, whatever prompt_text says.
        known = {**self.spk2info[spk_id]} if spk_id else self._of_sound(prompt_text, prompt_wav)
        return {**known, "text": tokens, "text_len": length}

    def frontend_cross_lingual(self, text: str, prompt_wav: str, spk_id: str) -> dict[str, Any]:
        known = self.frontend_zero_shot(text, "", prompt_wav, spk_id)
        del known["prompt_text"], known["prompt_text_len"]
        del known["llm_prompt_speech_token"]
        return known

    def frontend_instruct(self, text: str, spk_id: str, instruct_text: str) -> dict[str, Any]:
        known = self.frontend_sft(text, spk_id)
        del known["llm_embedding"]
        known["prompt_text"], known["prompt_text_len"] = self._extract_text_token(instruct_text)
        return known

    def frontend_instruct2(self, text: str, instruct_text: str, prompt_wav: str, spk_id: str) -> dict[str, Any]:
        known = self.frontend_zero_shot(text, instruct_text, prompt_wav, spk_id)
        del known["llm_prompt_speech_token"]
        return known

    def _of_sound(self, prompt_text: str, prompt_wav: str) -> dict[str, Any]:
        extracted.append(prompt_wav)
        speech = load_wav(prompt_wav, 16000)
        assert speech.shape[1] / 16000 <= LONGEST, "do not support extract speech token for audio longer than 30s"
        feat = load_wav(prompt_wav, 24000)
        logging.info("prompt %s", prompt_text)
        embedding = Tensor(np.array([[np.abs(speech.array).mean(), speech.array.std()]], np.float32))
        tokens, length = self._extract_text_token(prompt_text)
        return {
            "prompt_text": tokens,
            "prompt_text_len": length,
            "llm_prompt_speech_token": Tensor(np.array([[1, 2, 3]], np.int32)),
            "prompt_speech_feat": feat,
            "llm_embedding": embedding,
            "flow_embedding": embedding,
        }
