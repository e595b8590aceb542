"""Prepared queries give what the ORM gives, for every call's own values."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from synth.models import Job, Rendering, RenderingPart, Synthesis
from synth.models.prepared import insert, insert_all, prepared_rows, prepared_update
from synth.models.states import OPEN, State
from tenants.ids import new_id
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


@pytest.mark.django_db
def test_a_row_is_written_as_save_writes_it(world: World) -> None:
    mine = order(world.owner, "One.")
    job = Job.objects.get(id=mine.id)
    job.id, job.metadata, job.request_id = new_id(), {"a": ["ü", None]}, "again"
    insert(job)
    assert not job._state.adding
    read = Job.objects.get(id=job.id)
    for field in Job._meta.concrete_fields:
        if field.name not in {"id", "metadata", "request_id", "created_at"}:
            assert getattr(read, field.attname) == getattr(mine, field.attname), field.name
    assert (read.metadata, read.request_id) == ({"a": ["ü", None]}, "again")
    assert read.created_at >= mine.created_at, "stamped when it is written"


@pytest.mark.django_db
def test_a_row_that_is_there_already_is_refused(world: World) -> None:
    job = order(world.owner, "One.")
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(job)
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_all([job])


@pytest.mark.django_db
def test_many_rows_at_once_and_none(world: World) -> None:
    rendering = order(world.owner, "One.").rendering
    insert_all([])
    insert_all([RenderingPart(rendering=rendering, position=at, key="k") for at in (7, 8)])
    insert_all([RenderingPart(rendering=rendering, position=9, key="k")])
    assert list(rendering.parts.values_list("position", flat=True)) == [0, 7, 8, 9]
