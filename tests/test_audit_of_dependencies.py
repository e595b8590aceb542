"""`make audit` fails on a known weakness, says what nobody knows, and never takes silence for a good answer."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = {"torch-dev", "audit", "deploy-lint"}  # what nobody runs in production
CLEAN = {"name": "idna", "version": "3.20", "vulns": []}
WEAK = {"name": "old", "version": "1.0", "vulns": [{"id": "CVE-2026-1", "fix_versions": ["1.1"]}]}
SKIPPED = {"name": "ours", "skip_reason": "Dependency not found"}


@pytest.fixture
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci/audit.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_asks_about_every_pinned_requirement(audit: ModuleType) -> None:
    assert {"Django==5.2.19", "django-axes==8.3.1", "psycopg[binary,pool]==3.3.9"} <= set(audit.pinned())
    assert {path.stem for path in (ROOT / "requirements").glob("*.txt")} - set(audit.FILES) == TOOLS


@pytest.mark.parametrize(
    ("found", "status", "said"),
    [
        ([CLEAN, SKIPPED], 0, "1 asked about, 0 with known weaknesses; not known: ['ours']"),
        ([CLEAN, WEAK], 1, "old 1.0: CVE-2026-1, mended in ['1.1']"),
        (None, 0, "SKIPPED"),
    ],
)
def test_what_is_known_decides(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: Any, found: Any, status: int, said: str
) -> None:
    monkeypatch.setattr(audit, "asked", lambda *_: found)
    assert audit.main() == status
    assert said in capsys.readouterr().out
