"""Where IndexTTS's code and weights lie, whether all are there, and their digests. Used by _indextts_loading.py."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from synth.engines._flags import flag
from synth.engines._indextts_release import MARK, TWO, TWO_AND_A_HALF, Release
from synth.engines._requests import file_digest
from synth.errors import EngineUnavailable

VARIABLES = {name: f"REFRAIN_INDEXTTS_{name.upper()}" for name in ("code", "model_dir", "aux_dir", "digests")}
# What upstream reads when it is there.
OPTIONAL = ("glossary.yaml", "pinyin.vocab")
EMOTION_MODEL = "qwen0.6bemo4-merge"  # as upstream's configuration names it


@dataclass(frozen=True, slots=True)
class Places:
    release: Release
    code: Path
    model: Path
    aux: Path
    config: Path
    emotion_model: Path | None


def places(options: Mapping[str, str]) -> Places:
    """Raises EngineUnavailable, naming the setting and the file, for what is not there: upstream would download it."""
    code, model = _folder(options, "code"), _folder(options, "model_dir")
    release = TWO_AND_A_HALF if (model / MARK).is_file() else TWO
    if not (code / f"{release.module.replace('.', '/')}.py").is_file():
        raise EngineUnavailable(f"{VARIABLES['code']} is no checkout of index-tts with {release.module}")
    aux = Path(options.get("aux_dir") or model / "hf_cache").resolve()
    if not release.takes_aux_paths and aux != (model / "hf_cache").resolve():
        raise EngineUnavailable(f"IndexTTS {release.name} looks in hf_cache below its model directory alone")
    config = next((model / name for name in release.configs if (model / name).is_file()), model / release.configs[-1])
    emotion = model / EMOTION_MODEL if is_on(options, "emotion_text") else None
    found = Places(release, code, model, aux, config, emotion)
    missing = [file for file in _needed(found) if not file.exists()]
    if missing:
        raise EngineUnavailable(f"IndexTTS {release.name} lacks {', '.join(map(str, missing))}")
    return found


def is_on(options: Mapping[str, str], name: str) -> bool:
    return flag(options, name, variable=f"REFRAIN_INDEXTTS_{name.upper()}")


def digest_of_weights(found: Places, digests: str = "") -> str:
    """Of every file that the model is loaded from, by name.

    `digests` is a file as sha256sum writes it, with names below the model directory; without one, SHA256SUMS in
    there counts if it is there. Raises EngineUnavailable for each file that differs from it or is not there.
    """
    summed = {str(file): file_digest(file) for file in sorted(_files(found))}
    given = Path(digests) if digests else found.model / "SHA256SUMS"
    if digests and not given.is_file():
        raise EngineUnavailable(f"{VARIABLES['digests']} names no file")
    if given.is_file():
        _verify(_read_sums(given), found.model, summed)
    return _joined(f"{Path(name).relative_to(_root(found, Path(name)))} {digest}" for name, digest in summed.items())


def digest_of_code(code: Path) -> str:
    """Of upstream's Python files: what it makes of the weights differs from one of its commits to the next."""
    sources = sorted((code / "indextts").rglob("*.py"))
    return _joined(f"{source.relative_to(code)} {file_digest(source)}" for source in sources)


def _folder(options: Mapping[str, str], name: str) -> Path:
    value = options.get(name, "")
    if not value:
        raise EngineUnavailable(f"indextts needs {VARIABLES[name]}: docs/engines/indextts.md says how to set it up")
    if not Path(value).is_dir():
        raise EngineUnavailable(f"{VARIABLES[name]} names no directory: {value}")
    return Path(value).resolve()


def _needed(found: Places) -> Iterable[Path]:
    yield found.config
    yield from (found.model / name for name in found.release.files)
    yield from (found.aux / name for name in found.release.aux.values())
    yield from (found.aux / "bigvgan" / name for name in ("config.json", "bigvgan_generator.pt"))
    if found.emotion_model:
        yield found.emotion_model


def _files(found: Places) -> Iterable[Path]:
    optional = (found.model / name for name in OPTIONAL)
    for path in (*_needed(found), *(file for file in optional if file.is_file())):
        yield from (file for file in path.rglob("*") if file.is_file()) if path.is_dir() else (path,)


def _root(found: Places, file: Path) -> Path:
    return found.aux if file.is_relative_to(found.aux) else found.model


def _verify(expected: Mapping[str, str], model: Path, summed: Mapping[str, str]) -> None:
    for name, digest in expected.items():
        file = model / name
        actual = summed.get(str(file)) or (file_digest(file) if file.is_file() else "")
        if actual != digest:
            raise EngineUnavailable(f"{file} is not the file that its digest was written for")


def _read_sums(file: Path) -> dict[str, str]:
    pairs = [line.split(maxsplit=1) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    if any(len(pair) != 2 for pair in pairs):
        raise EngineUnavailable(f"{file} is not as sha256sum writes it")
    return {name.lstrip("*"): digest.lower() for digest, name in pairs}


def _joined(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
