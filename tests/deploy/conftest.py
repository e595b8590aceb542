"""The secrets of a deployment, made as an operator makes them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.deploy.compose import ROOT


@pytest.fixture(scope="session")
def maker() -> ModuleType:
    """deploy/ is no package: its script is run by whatever Python the machine has."""
    spec = importlib.util.spec_from_file_location("make_secrets", ROOT / "deploy/make_secrets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def secrets(maker: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deploy") / "secrets"
    maker.make(folder)
    return folder
