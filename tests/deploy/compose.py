"""docker-compose.yml and deploy/Dockerfile as the tests look at them: merged, and instruction by instruction."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"].startswith("refrain-")}
ONCE = {"migrate", "bucket"}
LASTING = sorted(SERVICES.keys() - ONCE)
# ${NAME}, ${NAME:-default} and ${NAME:?why}
VARIABLE = re.compile(r"(?<!\$)\$\{([A-Z0-9_]+)(?::([-?])([^}]*))?\}")


@dataclass(frozen=True)
class Stage:
    """One FROM of the Dockerfile: what it is built on, and its instructions, each a word and the rest."""

    base: str
    steps: tuple[tuple[str, str], ...]

    def last(self, word: str) -> str:
        """What it says itself; not what it has from its base."""
        return next((rest for name, rest in reversed(self.steps) if name == word), "")

    @property
    def command(self) -> list[str]:
        return json.loads(self.last("CMD") or "[]")

    @property
    def healthcheck(self) -> list[str]:
        _, _, words = self.last("HEALTHCHECK").partition("CMD ")
        return json.loads(words or "[]")


def stages() -> dict[str, Stage]:
    text = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    found: dict[str, Stage] = {}
    for word, _, rest in (line.partition(" ") for line in lines if line.strip()):
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            found[name] = Stage(base, ())
        else:
            name, stage = list(found.items())[-1]
            found[name] = Stage(stage.base, (*stage.steps, (word, rest.strip())))
    return found


def filled(text: str, given: dict[str, str]) -> str:
    """With its variables in place, as Compose fills them."""
    return VARIABLE.sub(lambda match: given.get(match[1]) or (match[3] if match[2] == "-" else ""), text)


def environment(name: str, given: dict[str, str]) -> dict[str, str]:
    """What the process of a service finds, of its image's and its own."""
    image = stages()[SERVICES[name]["build"]["target"]].last("ENV")
    own = {key: filled(str(value), given) for key, value in SERVICES[name]["environment"].items()}
    return dict(re.findall(r'(\w+)=("[^"]*"|\S+)', image)) | own


def command(name: str) -> list[str]:
    service = SERVICES[name]
    return service.get("command") or stages()[service["build"]["target"]].command


def healthcheck(name: str) -> list[str]:
    told = SERVICES[name].get("healthcheck", {})
    if told.get("disable"):
        return []
    return told["test"][1:] if "test" in told else stages()[SERVICES[name]["build"]["target"]].healthcheck
