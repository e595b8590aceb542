"""Two versions may run side by side while a deployment rolls: what an upgrade may change, and what it may not.

docs/operating.md says the rule. `BEFORE` is where the version before this one stopped.
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.models.fields import NOT_PROVIDED
from django.test import override_settings

from synth.models import CurationAction, CurationLine
from synth.service import drain_actions
from synth.types import EngineCard
from tests.cards import COUNTING
from tests.world import world  # noqa: F401 - a fixture
from ttsproject.celery import app

BEFORE = {"synth": "0012_engine_health", "tenants": "0003_usage"}
# What the version before would still read or write.
TAKEN_AWAY = (migrations.RemoveField, migrations.DeleteModel, migrations.RenameField, migrations.RenameModel)


@pytest.fixture(scope="module")
def loader() -> MigrationLoader:
    with override_settings(MIGRATION_MODULES={}):  # on SQLite the tests make their tables without
        return MigrationLoader(None)


def operations_since(loader: MigrationLoader) -> Iterator[tuple[str, Any]]:
    for (label, name), migration in sorted(loader.disk_migrations.items()):
        if label in BEFORE and name > BEFORE[label]:
            yield from ((f"{label}.{name}", operation) for operation in migration.operations)


def test_new_columns_are_null_or_filled_by_the_database(loader):
    added = [(name, step) for name, step in operations_since(loader) if isinstance(step, migrations.AddField)]
    created = {(name, step.name.lower()) for name, step in operations_since(loader) if hasattr(step, "fields")}
    assert added
    unfilled = [
        f"{name}: {step.model_name}.{step.name}"
        for name, step in added
        if (name, step.model_name) not in created  # a table that the version before does not know
        and not step.field.null
        and step.field.db_default is NOT_PROVIDED
    ]
    assert unfilled == []


def test_nothing_is_taken_away_that_the_version_before_uses(loader):
    taken = [f"{name}: {step.describe()}" for name, step in operations_since(loader) if isinstance(step, TAKEN_AWAY)]
    assert taken == []


@pytest.mark.django_db
def test_the_version_before_writes_and_reads_its_rows_in_the_database_of_this_one(loader):
    """By its own columns, and by nothing that it does not know."""
    old: Apps = loader.project_state(list(BEFORE.items())).apps
    rows = Rows()
    for label in BEFORE:
        for model in old.get_app_config(label).get_models():
            made = rows.of(model)
            assert model._default_manager.filter(pk=made.pk).values().get()
    assert len(rows.made) > 15


class Rows:
    """One row of each model, made after those that it points to."""

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}

    def of(self, model: type[models.Model]) -> Any:
        label = model._meta.label
        if label not in self.made:
            values = {field.name: self._value(field) for field in model._meta.concrete_fields if self._needs(field)}
            self.made[label] = model._default_manager.create(**values)
        return self.made[label]

    def _needs(self, field: models.Field[Any, Any]) -> bool:
        return not field.null and not field.has_default() and not isinstance(field, models.AutoField)

    def _value(self, field: models.Field[Any, Any]) -> Any:
        if isinstance(field, models.ForeignKey):
            return self.of(field.remote_field.model)
        values: dict[str, Any] = {
            "UUIDField": uuid.uuid4(),
            "DateTimeField": datetime.now(UTC),
            "DateField": datetime.now(UTC).date(),
            "JSONField": {},
            "FloatField": 1.0,
            "BooleanField": False,
        }
        kind = field.get_internal_type()
        return values.get(kind, "x" if kind in {"CharField", "TextField"} else 1)


def test_tasks_take_ids_and_names_only():
    """A message may be heard by another version than the one that sent it: all else it finds in the rows."""
    app.loader.import_default_modules()
    ours = [task for name, task in app.tasks.items() if name.startswith(("synth.", "tenants."))]
    assert len(ours) > 5
    for task in ours:
        kinds = {parameter.annotation for parameter in inspect.signature(task.run).parameters.values()}
        assert kinds <= {str}, task.name


def test_a_card_of_the_next_version_is_read():
    from synth import codec

    card = {**codec.to_json(COUNTING), "of_tomorrow": [1, 2, 3]}
    assert codec.from_json(EngineCard, card) == COUNTING


@pytest.mark.django_db
def test_an_action_of_a_kind_of_the_next_version_is_left_to_it(world):  # noqa: F811
    action = CurationAction.objects.create(kind="of_tomorrow", tenant=world.owner.tenant, matched=1)
    CurationLine.objects.create(action=action, number=1, tenant=world.owner.tenant, payload={"text": "One."})
    drain_actions()
    action.refresh_from_db()
    assert (action.state, action.lease_until, action.lines.get().outcome) == ("queued", None, "waiting")
