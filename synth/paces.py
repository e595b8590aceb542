"""What is learned of engines' paces: noted by workers for each sound that was kept, read by them before the next check.

A thread adds the notes to a row for each engine, version and language every few seconds; what is read is remembered for
a minute.
"""

import logging
import os
import time

from django.db import DatabaseError, IntegrityError, InterfaceError, transaction
from django.db.models import QuerySet

from synth.audio.pace import Paces, observed
from synth.models import EnginePace
from synth.types import Manner, Segment
from tenants.recorder import Recorder

logger = logging.getLogger(__name__)

WRITE_EVERY = 5.0
READ_EVERY = 60.0
Tongue = tuple[str, str, str]  # engine, model version, language


class PaceRecorder(Recorder[Tongue, Paces]):
    what = "paces"

    def merge(self, older: Paces, newer: Paces) -> Paces:
        return older + newer

    def write(self, notes: dict[Tongue, Paces]) -> None:
        """Add to the rows, in one order whoever writes, each under its lock."""
        with transaction.atomic():
            for tongue in sorted(notes):
                _add(tongue, notes[tongue])


_recorder = PaceRecorder(interval=WRITE_EVERY)
_read: dict[Tongue, tuple[float, Paces]] = {}
os.register_at_fork(after_in_child=_recorder.reset)
flush = _recorder.flush


def learn(segment: Segment, sounding: float) -> None:
    """A sound of so many seconds, without its pauses, was kept."""
    if segment.manner.duration is not None:
        return
    seen = observed(segment.text, sounding, speed=segment.manner.speed)
    if seen.count:
        _recorder.add(_tongue(segment.manner), seen)


def known(manner: Manner) -> Paces:
    """What was learned so far, up to a minute ago. A database that does not answer has learned nothing."""
    tongue, now = _tongue(manner), time.monotonic()
    read = _read.get(tongue)
    if read is None or now - read[0] > READ_EVERY:
        read = _read[tongue] = now, _stored(tongue)
    return read[1]


def forget() -> None:
    """Read anew at the next use."""
    _read.clear()


def _tongue(manner: Manner) -> Tongue:
    return manner.engine, manner.model_version, manner.language


def _stored(tongue: Tongue) -> Paces:
    try:
        row = _rows(tongue).first()
    except (DatabaseError, InterfaceError) as error:
        logger.warning("the pace of %s is not known: %s", tongue[0], error)
        return Paces()
    return Paces(row.count, row.mean, row.squares) if row else Paces()


def _add(tongue: Tongue, seen: Paces) -> None:
    row = _rows(tongue).select_for_update().first() or _made(tongue)
    sums = (Paces(row.count, row.mean, row.squares) + seen).faded()
    EnginePace.objects.filter(id=row.id).update(count=sums.count, mean=sums.mean, squares=sums.squares)


def _made(tongue: Tongue) -> EnginePace:
    engine, model_version, language = tongue
    try:
        with transaction.atomic():
            return EnginePace.objects.create(engine=engine, model_version=model_version, language=language)
    except IntegrityError:  # another worker was faster
        return _rows(tongue).select_for_update().get()


def _rows(tongue: Tongue) -> QuerySet[EnginePace]:
    engine, model_version, language = tongue
    return EnginePace.objects.filter(engine=engine, model_version=model_version, language=language)
