"""The double's model: a thread that makes tokens, and a consumer that waits for it as upstream's does."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

EMPTY = Tensor(np.zeros((1, 0), np.int32))
TOKENS_PER_CHARACTER = 2
SECONDS_PER_TOKEN = 0.1
END_OF_PROMPT = "<|endofprompt|>"
# What a text says to make the double fail, and where.
OOM_INSIDE, OOM_ONCE, FAIL_INSIDE, NOTHING, NO_NUMBERS, SLOWLY = (
    "oom inside", "oom once", "fail inside", "nothing at all", "no numbers", "slowly",
)  # fmt: skip
asked: list[dict[str, Any]] = []


class CosyVoiceModel:
    needs_prompt_end = False

    def __init__(self, sample_rate: int, *, hop: int | None) -> None:
        self.sample_rate = sample_rate
        self.lock = threading.Lock()
        self.tts_speech_token_dict: dict[str, list[int]] = {}
        self.llm_end_dict: dict[str, bool] = {}
        self.hift_cache_dict: dict[str, Any] = {}
        self.failed_once = False
        if hop is not None:
            self.token_hop_len = hop

    def llm_job(self, text: Any, prompt_text: Any, llm_prompt: Any, llm_embedding: Any, uuid: str) -> None:  # noqa: ARG002
        written = _text(text)
        assert not self.needs_prompt_end or END_OF_PROMPT in _text(prompt_text) + written
        for number in range(TOKENS_PER_CHARACTER * len(written)):
            if SLOWLY in written:
                time.sleep(0.01)
            self._fail(written, number)
            self.tts_speech_token_dict[uuid].append(int(torch.generator.integers(100)))
        self.llm_end_dict[uuid] = True

    def _fail(self, written: str, number: int) -> None:
        if number < 4:
            return
        if OOM_INSIDE in written or (OOM_ONCE in written and not self.failed_once):
            self.failed_once = True
            raise torch.OutOfMemoryError(f"CUDA out of memory while saying {written}")
        if FAIL_INSIDE in written:
            raise RuntimeError(f"sampling reaches max_trials 100, said {written}")

    def tts(self, text: Tensor, stream: bool, speed: float, **given: Any) -> Iterator[dict[str, Tensor]]:
        this = str(uuid.uuid1())
        asked.append({"text": _text(text), "prompt": _text(given.get("prompt_text", EMPTY)), "stream": stream, **given})
        with self.lock:
            self.tts_speech_token_dict[this], self.llm_end_dict[this] = [], False
            self.hift_cache_dict[this] = None
        arguments = (text, given.get("prompt_text", EMPTY), None, given.get("llm_embedding"), this)
        thread = threading.Thread(target=self.llm_job, args=arguments)
        thread.start()
        if NOTHING in _text(text):
            return
        done = 0
        while stream:
            time.sleep(0.01)
            hop = getattr(self, "token_hop_len", 8)
            if len(self.tts_speech_token_dict[this]) - done >= hop:
                yield self._wave(self.tts_speech_token_dict[this][done : done + hop], given, text)
                done += hop
                if hasattr(self, "token_hop_len"):
                    self.token_hop_len = min(4 * 8, 2 * hop)  # for good
            if self.llm_end_dict[this] and len(self.tts_speech_token_dict[this]) - done < hop:
                break
        thread.join()
        yield self._wave(self.tts_speech_token_dict[this][done:], given, text, speed=speed)
        with self.lock:
            self.tts_speech_token_dict.pop(this)
            self.llm_end_dict.pop(this)
            self.hift_cache_dict.pop(this)

    def _wave(self, tokens: list[int], given: Any, text: Tensor, speed: float = 1.0) -> dict[str, Tensor]:
        length = int(len(tokens) * SECONDS_PER_TOKEN * self.sample_rate / speed)
        pitch = 200 + (sum(tokens) + int(1e4 * float(np.sum(given["flow_embedding"].array)))) % 300
        at = np.arange(length) / self.sample_rate
        samples = (0.5 * np.sin(2 * np.pi * pitch * at) * (0.6 + 0.4 * np.sin(25 * at))).astype(np.float32)
        if NO_NUMBERS in _text(text):
            samples[:] = np.nan
        return {"tts_speech": Tensor(samples[None, :])}


class CosyVoice3Model(CosyVoiceModel):
    needs_prompt_end = True


def _text(tokens: Any) -> str:
    return "".join(chr(int(token)) for token in tokens.array[0])
