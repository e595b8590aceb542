"""Secrets are made once, each fits those that hold it too, and nobody else on the machine reads them."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.deploy.compose import COMPOSE, SERVICES

pytestmark = pytest.mark.any_database


def contents(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}


def test_all_that_compose_names_are_made(secrets: Path) -> None:
    named = {name: Path(told["file"]).name for name, told in COMPOSE["secrets"].items()}
    assert set(named.values()) == set(contents(secrets))
    assert all(name == file for name, file in named.items())


def test_the_folder_is_closed_and_its_files_can_be_read_in_containers(secrets: Path) -> None:
    assert secrets.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in secrets.iterdir()} == {0o444}


def test_made_again_nothing_changes_and_what_is_missing_fits(maker: ModuleType, tmp_path: Path) -> None:
    made = maker.make(tmp_path)
    before = contents(tmp_path)
    assert (sorted(before), maker.make(tmp_path)) == (made, [])
    gone = {"database_url", "cache_url", "broker_url", "s3_identities"}
    for name in gone:
        (tmp_path / name).unlink()
    assert maker.make(tmp_path) == sorted(gone)
    assert contents(tmp_path) == before


def test_no_two_are_alike(maker: ModuleType, tmp_path: Path) -> None:
    maker.make(tmp_path / "one")
    maker.make(tmp_path / "two")
    one, two = contents(tmp_path / "one"), contents(tmp_path / "two")
    assert [name for name in one if one[name] == two[name]] == ["s3_access_key_id"]
    own = [one[name] for name in one if not name.endswith(("_url", "_identities"))]
    assert len(set(own)) == len(own)


def test_the_object_store_lets_refrain_into_its_bucket_alone(secrets: Path) -> None:
    (identity,) = json.loads((secrets / "s3_identities").read_text(encoding="utf-8"))["identities"]
    (pair,) = identity["credentials"]
    assert pair == {
        "accessKey": (secrets / "s3_access_key_id").read_text(encoding="utf-8"),
        "secretKey": (secrets / "s3_secret_access_key").read_text(encoding="utf-8"),
    }
    assert identity["actions"] == [f"Admin:{SERVICES['api']['environment']['S3_BUCKET']}"]
