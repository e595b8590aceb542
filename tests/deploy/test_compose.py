"""What docker-compose.yml and deploy/Dockerfile name exists: services, stages, files, secrets, settings, commands."""

from __future__ import annotations

import fnmatch
import importlib.util
import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests.deploy.compose import (
    COMPOSE,
    LASTING,
    ONCE,
    OURS,
    ROOT,
    SERVICES,
    VARIABLE,
    command,
    environment,
    filled,
    healthcheck,
    stages,
)
from tests.test_settings import LISTED, settings_with
from ttsproject.launch import alive, container

pytestmark = pytest.mark.any_database

SETTINGS = {name for name, _ in LISTED}
GIVEN = {
    "REFRAIN_PUBLIC_URL": "https://speech.example",
    "REFRAIN_ALLOWED_HOSTS": "speech.example",
    "S3_PUBLIC_ENDPOINT_URL": "https://audio.example",
}


def used(kind: str) -> set[str]:
    """Networks, secrets or named volumes, of all services."""
    names = [str(item).partition(":")[0] for service in SERVICES.values() for item in service.get(kind, ())]
    return {name for name in names if not name.startswith(".")}


@pytest.mark.parametrize("kind", ["networks", "secrets", "volumes"])
def test_what_services_name_is_there_and_nothing_else(kind: str) -> None:
    assert used(kind) == set(COMPOSE[kind])


def test_what_a_service_waits_for_is_a_service_that_can_be_so() -> None:
    for name, service in SERVICES.items():
        for other, told in service.get("depends_on", {}).items():
            once = told["condition"] == "service_completed_successfully"
            assert once == (other in ONCE), (name, other)
            assert once or healthcheck(other), (name, other)


def test_files_that_are_mounted_are_there() -> None:
    mounted = [item.split(":")[0] for service in SERVICES.values() for item in service.get("volumes", ())]
    files = {name for name in mounted if name.startswith("./") and not name.startswith("./models")}
    assert files == {"./deploy/redis/cache.conf", "./deploy/redis/broker.conf"}
    assert all((ROOT / name).is_file() for name in files)


def test_images_are_built_from_stages_that_are_there() -> None:
    for service in OURS.values():
        assert service["build"]["dockerfile"] == "deploy/Dockerfile"
        assert service["image"] == f"refrain-{service['build']['target']}"
        assert stages()[service["build"]["target"]].command


def test_what_the_dockerfile_copies_is_there_and_sent_along() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sent = {line[1:] for line in ignored if line.startswith("!")}
    copied: set[str] = set()
    for stage in stages().values():
        assert stage.base in stages() or re.fullmatch(r"[\w./-]+:[\w.-]+", stage.base), stage.base
        for word, rest in stage.steps:
            if word == "COPY" and rest.startswith("--from="):
                assert rest.split()[0].removeprefix("--from=") in stages()
            elif word == "COPY":
                copied |= set(rest.split()[:-1])
    assert all((ROOT / name).exists() for name in copied)
    assert {name.partition("/")[0] for name in copied} == sent
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert packages <= copied


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_variable_is_a_setting(name: str) -> None:
    for variable, value in SERVICES[name]["environment"].items():
        setting = variable.removesuffix("_FILE")
        assert setting in SETTINGS, variable
        if variable.endswith("_FILE"):
            folder, _, secret = str(value).rpartition("/")
            assert (folder, secret in SERVICES[name]["secrets"]) == ("/run/secrets", True), variable
    image = stages()[SERVICES[name]["build"]["target"]].last("ENV")
    assert set(re.findall(r"\b((?:REFRAIN|S3|DATABASE|CELERY)_\w+)=", image)) <= SETTINGS


def test_what_is_filled_in_from_outside_is_a_setting() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    found = {match[0] for match in VARIABLE.findall(text)}
    assert GIVEN.keys() <= found <= SETTINGS
    assert filled("${PORT:-8000}", {}) == "8000"


@pytest.mark.parametrize("name", sorted(OURS))
def test_its_settings_can_be_read_and_are_those_of_its_neighbours(name: str, secrets: Path) -> None:
    variables = {key: value.replace("/run/secrets", str(secrets)) for key, value in environment(name, GIVEN).items()}
    known = settings_with({"REFRAIN_SECRET_KEY": "", **variables})
    (database,) = known["DATABASES"].values()  # type: ignore[attr-defined]
    assert (database["HOST"], database["NAME"], database["USER"]) == ("postgres", "refrain", "refrain")
    assert database["HOST"] in SERVICES
    assert database["PASSWORD"] == (secrets / "postgres_password").read_text(encoding="utf-8")
    for url, server in ((known["REDIS_URL"], "cache"), (known["CELERY_BROKER_URL"], "broker")):
        login = (secrets / f"{server}_login").read_text(encoding="utf-8")
        assert url == f"redis://:{login.split()[1]}@{server}:6379/0"
        assert f"/run/secrets/{server}_login" in SERVICES[server]["command"]
    store = known["REFRAIN"]["STORAGE_OPTIONS"]["s3"]  # type: ignore[index]
    assert store["endpoint"] == "http://seaweedfs:8333"
    assert store["public_endpoint"] == "https://audio.example"
    assert known["ALLOWED_HOSTS"] == ["speech.example", "127.0.0.1"]
    assert known["SESSION_COOKIE_SECURE"] is True


@pytest.mark.parametrize("name", sorted(OURS))
def test_it_runs_what_is_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    python, *words = command(name)
    assert python == "python"
    if words[0] == "manage.py":
        assert words[1] in get_commands()
        return
    assert words[:2] == ["-m", "ttsproject.launch.container"]
    for key, value in environment(name, GIVEN).items():
        monkeypatch.setenv(key, value)
    _, flag, module, *rest = container.command(words[2])
    assert (flag, importlib.util.find_spec(module) is not None) == ("-m", True)
    if words[2] == "engine":
        queues = rest[rest.index("--queues") + 1].split(",")
        assert queues == [f"engine.{engine}" for engine in environment(name, GIVEN)["REFRAIN_ENGINES"].split(",")]
        assert all((ROOT / f"synth/engines/{queue.removeprefix('engine.')}.py").exists() for queue in queues)


@pytest.mark.parametrize("name", sorted(OURS.keys() - ONCE))
def test_its_health_is_asked_of_what_runs_there(name: str) -> None:
    python, isolated, file, kind = healthcheck(name)
    assert (python, isolated) == ("python", "-I")
    assert (ROOT / file).samefile(alive.__file__)
    running = command(name)[-1]
    assert kind == {"io": "worker", "engine": "worker"}.get(running, running)
    assert kind != "worker" or "REFRAIN_METRICS_PORT" in environment(name, GIVEN)


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_none_has_more_rights_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    user = service.get("user") or stages()[service["build"]["target"]].last("USER")
    assert user.partition(":")[0] not in {"", "root", "0"}
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    limits = service["deploy"]["resources"]["limits"]
    assert {"memory", "pids"} <= set(limits)
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    assert service["restart"] == ("on-failure:3" if name in ONCE else "unless-stopped")


def test_what_holds_data_is_reached_from_inside_alone() -> None:
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    outside = {name for name, service in SERVICES.items() if "outside" in service["networks"]}
    assert outside == {"api", "io", "seaweedfs"}
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"api", "seaweedfs"}


@pytest.mark.parametrize("name", LASTING)
def test_each_has_time_to_end_and_says_whether_it_lives(name: str) -> None:
    assert healthcheck(name)
    assert SERVICES[name]["stop_grace_period"].endswith("s")


def test_an_engine_worker_has_time_for_its_sentence() -> None:
    deadline = int(dict(LISTED)["REFRAIN_DEADLINE"])
    for name, service in OURS.items():
        if "engine" in command(name):
            assert int(service["stop_grace_period"][:-1]) > deadline, name


def test_secrets_are_files_that_git_and_images_never_see() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    for told in COMPOSE["secrets"].values():
        assert any(fnmatch.fnmatch(f"/{told['file']}", f"{line}*") for line in ignored)
    assert (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()[1] == "*"
