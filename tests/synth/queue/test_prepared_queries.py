"""Prepared queries give what the ORM gives, for every call's own values."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from synth.models import Job, Rendering, Synthesis
from synth.models.prepared import prepared_rows, prepared_update
from synth.models.states import OPEN, State
from tests.synth.queue.desk import at_once, order
from tests.world import World


@prepared_rows
def open_renderings(tenant_id: UUID, key: str) -> QuerySet[Rendering]:
    return Rendering.objects.filter(tenant_id=tenant_id, key=key, state__in=OPEN)


@prepared_rows
def sentences_since(moment: datetime) -> QuerySet[Synthesis, tuple[UUID, str]]:
    return Synthesis.objects.filter(created_at__gte=moment).order_by("key").values_list("id", "key")


@prepared_rows
def job_with_rendering(job_id: UUID) -> QuerySet[Job]:
    return Job.objects.select_related("rendering").filter(id=job_id)


@prepared_update
def end(rendering_id: UUID, moment: datetime, size: int) -> tuple[QuerySet[Rendering], dict[str, Any]]:
    changes = {"state": State.SUCCEEDED, "ended_at": moment, "size": size, "lease_until": None}
    return Rendering.objects.filter(id=rendering_id, state__in=OPEN), changes


@pytest.mark.django_db
def test_each_call_gets_the_rows_of_its_own_values(world: World) -> None:
    mine, theirs = order(world.owner, "One."), order(world.stranger, "Two.")
    for job in (mine, theirs, mine):
        assert open_renderings(tenant_id=job.tenant_id, key=job.rendering.key) == [job.rendering]
    assert open_renderings(tenant_id=mine.tenant_id, key=theirs.rendering.key) == []


@pytest.mark.django_db
def test_rows_are_as_the_orm_reads_them(world: World) -> None:
    job = order(world.owner, "One.")
    (read,) = job_with_rendering(job_id=job.id)
    expected = Job.objects.select_related("rendering").get(id=job.id)
    assert {**read.__dict__, "_state": None} == {**expected.__dict__, "_state": None}
    assert read.rendering.spec == expected.rendering.spec
    assert read.rendering.created_at == expected.rendering.created_at


@pytest.mark.django_db
def test_times_and_tuples(world: World) -> None:
    order(world.owner, "One. Two.")
    rows = list(Synthesis.objects.order_by("key").values_list("id", "key"))
    assert sentences_since(moment=timezone.now() - timedelta(minutes=1)) == rows
    assert sentences_since(moment=timezone.now() + timedelta(minutes=1)) == []


@pytest.mark.django_db
def test_an_update_changes_what_it_names_and_counts_it(world: World) -> None:
    job, other = order(world.owner, "One."), order(world.owner, "Two.")
    now = timezone.now()
    assert end(rendering_id=job.rendering_id, moment=now, size=3) == 1
    assert end(rendering_id=job.rendering_id, moment=now, size=4) == 0, "it is not open any more"
    job.rendering.refresh_from_db()
    assert (job.rendering.state, job.rendering.size, job.rendering.ended_at) == (State.SUCCEEDED, 3, now)
    assert end(rendering_id=other.rendering_id, moment=now, size=4) == 1


@pytest.mark.django_db
def test_one_statement_each_time(world: World) -> None:
    job = order(world.owner, "One.")
    with CaptureQueriesContext(connection) as queries:
        for _ in range(3):
            open_renderings(tenant_id=job.tenant_id, key=job.rendering.key)
    assert len(queries) == 3
    assert len({query["sql"] for query in queries}) == 1


def test_threads_do_not_mix_their_values(committed_world: World) -> None:
    jobs = [order(committed_world.owner, f"Sentence {number}.") for number in range(8)]

    def read(job: Job) -> bool:
        tenant_id, key = job.tenant_id, job.rendering.key
        return all(open_renderings(tenant_id=tenant_id, key=key) == [job.rendering] for _ in range(50))

    assert at_once([lambda job=job: read(job) for job in jobs]) == [True] * 8


def test_they_go_on_after_the_connection_was_closed(committed_world: World) -> None:
    job = order(committed_world.owner, "One.")
    for _ in range(2):
        assert open_renderings(tenant_id=job.tenant_id, key=job.rendering.key) == [job.rendering]
        connection.close()
