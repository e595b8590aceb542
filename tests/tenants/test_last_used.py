"""The last use of a key: noted without SQL, written at most once a minute, never in the way."""

import os
import signal
import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from tenants import last_used
from tenants.last_used import Recorder
from tenants.models import ApiKey


@pytest.fixture
def recorder():
    recorder = Recorder(interval=3600)
    yield recorder
    recorder._notes.clear()
    recorder.stop()


def used(member):
    return ApiKey.objects.get(id=member.key.id).last_used_at


def test_a_note_costs_no_sql_and_a_flush_one_update(world, recorder, django_assert_num_queries):
    with django_assert_num_queries(0):
        for _ in range(100):
            recorder.note(world.owner.key.id)
            recorder.note(world.stranger.key.id)
    with django_assert_num_queries(1):
        recorder.flush()
    assert used(world.owner) is not None
    assert used(world.stranger) is not None
    assert used(world.suspended) is None


def test_nothing_noted_nothing_written(world, recorder, django_assert_num_queries):
    with django_assert_num_queries(0):
        recorder.flush()


def test_the_time_of_use_is_kept_not_the_time_of_writing(world, recorder):
    recorder.note(world.owner.key.id)
    noted = timezone.now()
    recorder._notes[world.owner.key.id] -= timedelta(minutes=5)
    recorder.flush()
    assert used(world.owner) < noted - timedelta(minutes=4)


def test_a_key_is_written_once_an_interval_whoever_wrote_it(world, recorder):
    recorder.note(world.owner.key.id)
    recorder.flush()
    first = used(world.owner)
    other_process = Recorder(interval=3600)
    other_process.note(world.owner.key.id)
    other_process.stop()
    assert used(world.owner) == first
    ApiKey.objects.update(last_used_at=first - timedelta(seconds=3601))
    recorder.note(world.owner.key.id)
    recorder.flush()
    assert used(world.owner) > first


@pytest.mark.django_db(transaction=True)
def test_a_database_error_keeps_the_notes(world, recorder, caplog):
    def fail(*args: object) -> None:
        raise OperationalError("database away")

    recorder.note(world.owner.key.id)
    with connection.execute_wrapper(fail):
        recorder.flush()
    assert "database away" in caplog.text
    assert used(world.owner) is None
    recorder.flush()
    assert used(world.owner) is not None


def test_a_deleted_key_does_no_harm(world, recorder):
    recorder.note(uuid4())
    recorder.note(world.owner.key.id)
    recorder.flush()
    assert used(world.owner) is not None


def test_one_daemon_thread_starts_with_the_first_note(recorder):
    assert recorder._thread is None
    recorder.note(uuid4())
    thread = recorder._thread
    recorder.note(uuid4())
    assert recorder._thread is thread
    assert thread.daemon


def test_the_thread_writes_by_itself(recorder):
    flushed = threading.Event()

    class Flushing(Recorder):
        def flush(self) -> None:
            self._notes.clear()
            flushed.set()

    quick = Flushing(interval=0.001)
    quick.note(uuid4())
    assert flushed.wait(10)
    thread = quick._thread
    quick.stop()
    thread.join(10)
    assert not thread.is_alive()


def test_a_forked_child_starts_afresh_even_from_a_held_lock():
    recorder = last_used._recorder
    key_id = uuid4()
    with recorder._lock:
        recorder._notes[key_id] = timezone.now()
        child = os.fork()
        if child == 0:
            signal.alarm(10)  # a deadlock ends the child with a signal, not with 0
            clean = not recorder._notes and recorder._thread is None
            recorder.note(uuid4())
            os._exit(0 if clean and len(recorder._notes) == 1 else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert recorder._notes.pop(key_id)
