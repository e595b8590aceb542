"""Which method of upstream speaks in a voice, and what it wants around the text: for cosyvoice.py. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from synth.engines._cosyvoice_text import ASSISTANT, CANTONESE, END_OF_PROMPT
from synth.errors import Permanent
from synth.types import Reference

Speaker = dict[str, Any]
FIRST, SECOND, THIRD = "CosyVoice", "CosyVoice2", "CosyVoice3"
_OPENING = ASSISTANT + END_OF_PROMPT


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """`arguments` stand after the text, `before` in front of each text.

    The voice is `named`, or a `speaker` with a `prompt`: a transcript or an instruction.
    """

    method: str
    arguments: tuple[str, ...] = ()
    before: str = ""
    named: str = ""
    speaker: Speaker | None = None
    prompt: str = ""


def is_saved_clone(speaker: Speaker) -> bool:
    """Whether a model's file holds all that was worked out of a reference; else it is a voice of the model's own."""
    return "prompt_text" in speaker


def own(family: str, name: str, speaker: Speaker, instruction: str) -> Way:
    """In a voice of the model's file. Raises Permanent where such a voice takes no instruction."""
    if is_saved_clone(speaker):
        if instruction:
            return instructed(family, speaker, instruction)
        return Way(method="inference_zero_shot", arguments=("", ""), named=name)
    if not instruction:
        return Way(method="inference_sft", arguments=(name,), before=_OPENING if family == THIRD else "")
    if family == FIRST:
        return Way(method="inference_instruct", arguments=(name, instruction + END_OF_PROMPT))
    raise Permanent(f"{name} takes no instruction: it was not cloned from a reference", code="unsupported_control")


def cloned(family: str, speaker: Speaker, reference: Reference, *, language: str, instruction: str) -> Way:
    """Like a reference; its transcript is taken where it is of the language that is to be spoken."""
    told = reference.transcript if reference.language.split("-", 1)[0].lower() == language else ""
    if family == FIRST and instruction:
        raise Permanent("this model takes instructions in its own voices only", code="unsupported_control")
    # The later models know no tag for it: they are asked for it as for a dialect.
    cantonese = language == "yue" and not told and family != FIRST
    if instruction or cantonese:
        wishes = (CANTONESE[family] if cantonese else "", instruction)
        return instructed(family, speaker, " ".join(wish for wish in wishes if wish))
    if told:
        prompt = _OPENING + told if family == THIRD else told
        return Way(method="inference_zero_shot", arguments=("", ""), speaker=speaker, prompt=prompt)
    before = {FIRST: f"<|{language}|>", SECOND: "", THIRD: _OPENING}[family]
    return Way(method="inference_cross_lingual", arguments=("",), before=before, speaker=speaker)


def instructed(family: str, speaker: Speaker, instruction: str) -> Way:
    words = f"{ASSISTANT} {instruction}" if family == THIRD else instruction
    prompt = words + END_OF_PROMPT
    return Way(method="inference_instruct2", arguments=(prompt, ""), speaker=speaker, prompt=prompt)
