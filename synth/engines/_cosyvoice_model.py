"""What of a CosyVoice model's directory must be there, what kind it is, and its digest: for cosyvoice.py.

A model's directory runs code of its own (its yaml makes objects), so it is input that the operator trusts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from synth.engines._flags import flag
from synth.engines._requests import file_digest
from synth.errors import EngineUnavailable

# Which class upstream takes is decided by which of these there is, in this order.
_FAMILIES = {"cosyvoice.yaml": "CosyVoice", "cosyvoice2.yaml": "CosyVoice2", "cosyvoice3.yaml": "CosyVoice3"}
_TOKENIZERS = {"CosyVoice": "v1", "CosyVoice2": "v2", "CosyVoice3": "v3"}
_LANGUAGE_MODEL = "CosyVoice-BlankEN"
SFT, INSTRUCT, CLONING = "sft", "instruct", "cloning"
_VARIANTS = {"-sft": SFT, "-instruct": INSTRUCT}


@dataclass(frozen=True, slots=True)
class Place:
    """The operator's settings. `variant` is what a model of the first family was trained for: sft, instruct, cloning;

    the others are for cloning, with instructions.
    """

    code: tuple[Path, ...]
    model_dir: Path
    family: str
    variant: str
    device: str
    fp16: bool
    stream: bool


def place(options: Mapping[str, str]) -> Place:
    """Raises EngineUnavailable, and names the setting or the file, where something is missing or unknown."""
    code = _directory(options, "code")
    matcha = _directory(options, "matcha") if options.get("matcha") else code / "third_party" / "Matcha-TTS"
    for inside in (code / "cosyvoice" / "cli" / "cosyvoice.py", matcha / "matcha"):
        if not inside.exists():
            raise EngineUnavailable(f"{inside} is missing: is this a checkout of CosyVoice with its submodules?")
    # Upstream would download a model whose directory is missing.
    model_dir = _directory(options, "model_dir")
    family = _family(model_dir)
    for name in weights(family):
        if not (model_dir / name).is_file():
            raise EngineUnavailable(f"{model_dir} has no {name}")
    if family != "CosyVoice" and not (model_dir / _LANGUAGE_MODEL).is_dir():
        raise EngineUnavailable(f"{model_dir} has no {_LANGUAGE_MODEL}")
    return Place(
        code=(code, matcha),
        model_dir=model_dir,
        family=family,
        variant=_variant(options, model_dir) if family == "CosyVoice" else CLONING,
        device=_choice(options, "device", ("auto", "cpu", "cuda")),
        fp16=flag(options, "fp16", variable="REFRAIN_COSYVOICE_FP16"),
        stream=flag(options, "stream", variable="REFRAIN_COSYVOICE_STREAM"),
    )


def weights(family: str) -> tuple[str, ...]:
    """The files that upstream loads, but for the voices."""
    yaml = next(name for name, known in _FAMILIES.items() if known == family)
    tokenizer = f"speech_tokenizer_{_TOKENIZERS[family]}.onnx"
    return (yaml, "llm.pt", "flow.pt", "hift.pt", "campplus.onnx", tokenizer)


def digest(where: Place) -> str:
    """Of the weights and of the code that gives them a sound. Reads gigabytes: a few seconds, once a start."""
    seen = hashlib.sha256()
    for name, path in _files(where):
        seen.update(f"{name} {file_digest(path)}\n".encode())
    return seen.hexdigest()


def _files(where: Place) -> Iterator[tuple[str, Path]]:
    for name in weights(where.family):
        yield name, where.model_dir / name
    for path in sorted((where.model_dir / _LANGUAGE_MODEL).rglob("*")):
        if path.is_file():
            yield path.relative_to(where.model_dir).as_posix(), path
    for root, package in zip(where.code, ("cosyvoice", "matcha"), strict=True):
        for path in sorted((root / package).rglob("*.py")):
            yield path.relative_to(root).as_posix(), path


def _directory(options: Mapping[str, str], name: str) -> Path:
    setting = f"REFRAIN_COSYVOICE_{name.upper()}"
    if not options.get(name):
        raise EngineUnavailable(f"{setting} is not set")
    path = Path(options[name]).expanduser().resolve()
    if not path.is_dir():
        raise EngineUnavailable(f"{setting} is {path}, which is no directory")
    return path


def _family(model_dir: Path) -> str:
    for name, family in _FAMILIES.items():
        if (model_dir / name).is_file():
            return family
    raise EngineUnavailable(f"{model_dir} has none of {', '.join(_FAMILIES)}")


def _variant(options: Mapping[str, str], model_dir: Path) -> str:
    """Nothing inside the three models of the first family tells them apart: their directories' names do."""
    chosen = _choice(options, "variant", ("auto", SFT, INSTRUCT, CLONING))
    if chosen != "auto":
        return chosen
    name = model_dir.name.lower()
    return next((variant for ending, variant in _VARIANTS.items() if name.endswith(ending)), CLONING)


def _choice(options: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    value = options.get(name, "").strip().lower() or known[0]
    if value not in known:
        raise EngineUnavailable(f"REFRAIN_COSYVOICE_{name.upper()} must be one of {', '.join(known)}")
    return value
