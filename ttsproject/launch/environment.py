"""The environment that every process of `make run` gets: the user's own, .env, and defaults for one machine."""

import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

from dotenv import dotenv_values

from ttsproject.launch import preflight

ROOT = preflight.ROOT
ENGINES = "kokoro,hibari"


@dataclass(frozen=True)
class RunEnvironment:
    """`redis_port` is None where REDIS_URL names a server of the user's own."""

    variables: dict[str, str]
    var: Path
    port: int
    redis_port: int | None

    @property
    def url(self) -> str:
        """Where this machine reaches the API; the public address may be another."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def engines(self) -> list[str]:
        return [name.strip() for name in self.variables["REFRAIN_ENGINES"].split(",") if name.strip()]

    @property
    def voices_to_fetch(self) -> Path | None:
        """Where the voices belong that are fetched; None where the user has others or no need of them."""
        default = kokoro_voices(self.var)
        theirs = self.variables.get("REFRAIN_KOKORO_DIR") or self.variables["REFRAIN_KOKORO_VOICES"] != str(default)
        return None if theirs or "kokoro" not in self.engines else default

    @property
    def demo_file(self) -> Path:
        return self.var / "demo.env"


def read() -> dict[str, str]:
    """What the user set: the environment, and below it the file .env."""
    from_file = {name: value for name, value in dotenv_values(ROOT / ".env").items() if value is not None}
    return {**from_file, **{name: value for name, value in os.environ.items() if value}}


def var_directory(variables: dict[str, str]) -> Path:
    return Path(variables.get("REFRAIN_VAR_DIR") or ROOT / "var").resolve()


def kokoro_voices(var: Path) -> Path:
    return var / "voices" / "kokoro"


def complete(variables: dict[str, str]) -> RunEnvironment:
    """With a default for all that is not set. Makes the secret key on the first start."""
    var = var_directory(variables)
    port = preflight.port(variables)
    redis_port = None if variables.get("REDIS_URL") or variables.get("REDIS_URL_FILE") else _free_port()
    defaults = {
        "REFRAIN_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "REFRAIN_ENGINES": ENGINES,
        "REFRAIN_KOKORO_VOICES": str(kokoro_voices(var)),
        "PYTHONUNBUFFERED": "1",
    }
    if redis_port:
        defaults["REDIS_URL"] = f"redis://127.0.0.1:{redis_port}/0"
    if not variables.get("REFRAIN_SECRET_KEY") and not variables.get("REFRAIN_SECRET_KEY_FILE"):
        defaults["REFRAIN_SECRET_KEY_FILE"] = str(_secret_key_file(var))
    defaults = {name: value for name, value in defaults.items() if not variables.get(name)}
    fixed = {"REFRAIN_VAR_DIR": str(var), "DJANGO_SETTINGS_MODULE": "ttsproject.settings"}
    write_private(var / "run.env", "".join(f"{name}={value}\n" for name, value in {**defaults, **fixed}.items()))
    completed = {**defaults, **variables, **fixed}
    return RunEnvironment(completed, var, port, redis_port)


def write_private(path: Path, text: str) -> None:
    """Whole or not at all, and never readable by others, not even for a moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    fresh.replace(path)


def _secret_key_file(var: Path) -> Path:
    path = var / "secret_key"
    if not path.exists():
        write_private(path, secrets.token_urlsafe(50))
    return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
