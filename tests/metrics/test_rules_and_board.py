"""The rules and the board that operators get name only metrics that are there, and rules that are recorded."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest

from synth import metrics
from synth.census import Census
from tests.metrics.scraping import parse
from tests.synth.savings.world import MONDAY, measured
from tests.world import World, world  # noqa: F401 - a fixture

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((DEPLOY / "prometheus/rules.yml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]
BOARD = json.loads((DEPLOY / "grafana/refrain.json").read_text(encoding="utf-8"))
ASKED = [
    *(rule["expr"] for rule in RULES),
    *(target["expr"] for panel in BOARD["panels"] for target in panel["targets"]),
]


@pytest.fixture
def exposed(world: World) -> set[str]:  # noqa: F811
    """Every name that a process of ours may show."""
    measured(world.owner.tenant, MONDAY, runs=1, characters=10, engine_seconds=1.0, audio_seconds=1.0)
    metrics.hit(metrics.Tier.L2, engine="kokoro", characters=1, seconds=0.001)
    metrics.engine_run("kokoro", metrics.RunEnd.KEPT, seconds=0.1)
    metrics.breaker("a_test", is_open=False)
    registry = CollectorRegistry()
    registry.register(Census())
    text = generate_latest().decode() + generate_latest(registry).decode()
    declared = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    return declared | {name for name, _ in parse(text)}


@pytest.mark.parametrize("expression", ASKED)
def test_every_metric_that_is_asked_for_is_there(expression: str, exposed: set[str]) -> None:
    assert set(re.findall(r"\brefrain_\w+", expression)) <= exposed


def test_every_recorded_name_that_is_used_is_recorded() -> None:
    recorded = {rule["record"] for rule in RULES if "record" in rule}
    assert set(re.findall(r"\brefrain:[\w:]+", " ".join(ASKED))) <= recorded
    assert len(recorded) == sum("record" in rule for rule in RULES)


def test_every_alert_says_how_bad_it_is_and_what_it_means() -> None:
    for rule in RULES:
        if "alert" in rule:
            assert rule["labels"]["severity"] in {"critical", "warning", "info"}
            assert rule["annotations"]["summary"]


def test_every_metric_of_ours_stands_in_the_operators_guide(exposed: set[str]) -> None:
    guide = (DEPLOY.parent / "docs/operating.md").read_text(encoding="utf-8")
    bare = {re.sub(r"_(bucket|count|sum)$", "", name) for name in exposed if name.startswith("refrain_")}
    assert sorted(name for name in bare if f"`{name}`" not in guide) == []
