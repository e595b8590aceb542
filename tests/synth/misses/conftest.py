"""What the tests of miss reasons share: requests over HTTP, an engine to do their work, and the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from synth import service
from synth.metrics import MissReason
from synth.models import MissDay
from tests.engines.counting import CountingEngine
from tests.synth.cache.conftest import Speaker, ask, fresh_parts, world  # noqa: F401 - fixtures
from tests.synth.queue.desk import work
from tests.world import Member

TEXT = "Your appointment is at noon, please be there."


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Do all the work that is queued."""
    monkeypatch.setenv("COUNTING_LOG", str(tmp_path / "runs.jsonl"))
    monkeypatch.setenv("COUNTING_SECONDS", "0")
    engine = CountingEngine()
    return lambda: work(engine)


def counted(member: Member) -> Counter[str]:
    """What was counted of the member's misses, by reason."""
    found: Counter[str] = Counter()
    for day in MissDay.objects.filter(tenant=member.tenant):
        found.update({reason: getattr(day, reason) for reason in map(str, MissReason)})
    return +found


def judged(member: Member) -> Counter[str]:
    service.judge_misses()
    return counted(member)
