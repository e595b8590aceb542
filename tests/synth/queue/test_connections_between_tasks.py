"""A worker keeps its database connection from task to task, and gives up one that is broken."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from celery import signals
from celery.fixups.django import DjangoWorkerFixup
from django.db import connection

from ttsproject.celery import app


class Task:
    request = SimpleNamespace(is_eager=False)


TASK = Task()


def run_a_task() -> None:
    """What Celery does around a task in a worker of this application."""
    fixup = DjangoWorkerFixup(app)
    fixup.on_task_prerun(TASK)
    signals.task_prerun.send(sender=TASK)
    fixup.on_task_postrun(TASK)
    signals.task_postrun.send(sender=TASK)


@pytest.mark.django_db(transaction=True)
def test_a_good_connection_is_kept() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("on PostgreSQL connections go back to the pool")
    connection.ensure_connection()
    before = connection.connection
    run_a_task()
    assert connection.connection is before


@pytest.mark.django_db(transaction=True)
def test_a_broken_connection_is_not() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("a file does not go away")
    connection.ensure_connection()
    connection.connection.close()
    connection.errors_occurred = True
    run_a_task()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
