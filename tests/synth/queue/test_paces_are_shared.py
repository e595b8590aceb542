"""What workers learn of a pace is added up in one row, whoever writes first, and however many at once."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from synth import paces
from synth.audio.pace import Paces
from synth.models import EnginePace

TONGUE = ("counting", "counting-1", "en")


@pytest.mark.django_db(transaction=True)
def test_workers_that_write_at_once_lose_nothing():
    start = threading.Barrier(6)

    def write(number: int) -> None:
        recorder = paces.PaceRecorder(interval=3600)
        start.wait(30)
        try:
            for _ in range(5):
                recorder.write({TONGUE: Paces(1, -float(number), 0.0)})
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    row = EnginePace.objects.get()
    assert (row.count, row.mean, row.squares) == (30, pytest.approx(-2.5), pytest.approx(87.5))


@pytest.mark.django_db
def test_a_version_or_a_language_learns_for_itself():
    recorder = paces.PaceRecorder(interval=3600)
    recorder.write({TONGUE: Paces(1, -1.0), ("counting", "counting-2", "en"): Paces(1, -2.0)})
    recorder.write({("counting", "counting-1", "zh"): Paces(1, -3.0)})
    assert sorted(EnginePace.objects.values_list("mean", flat=True)) == [-3.0, -2.0, -1.0]
