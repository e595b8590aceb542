"""What is wrong with this Refrain: rows that are stuck, objects without rows, parts that do not answer as they should.

`manage.py doctor` alone calls `examine`: no API process needs to load this. Rows are looked for by the very checks that
the sweeper repairs by.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from synth.errors import WorkError
from synth.service import object_audit
from synth.service.infrastructure import INFRASTRUCTURE
from synth.service.inspection import MOST_EXAMPLES, Check
from synth.service.object_audit import Differences
from synth.service.overdue import OVERDUE
from synth.service.stuck import EVERY_MINUTE, EVERY_ROUND


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Of one check: how many were found, how many are left after a repair. `problem`: it could not be looked for."""

    name: str
    says: str
    found: int = 0
    left: int = 0
    examples: Sequence[str] = ()
    advice: str = ""
    problem: str = ""

    @property
    def is_well(self) -> bool:
        return not self.left and not self.problem


def examine(*, repair: bool, deep: bool) -> Iterator[Finding]:
    """One finding after the other: looking at every object takes its time.

    `deep`: all objects, in place of the part of them that is the scheduler's turn.
    """
    for check in (*INFRASTRUCTURE, *EVERY_ROUND, *EVERY_MINUTE, *OVERDUE):
        yield _look(check, repair=repair)
    parts = range(object_audit.PARTS) if deep else [object_audit.part_of_now()]
    yield from _compare(parts, repair=repair)
    if deep:
        yield _look(FOREIGN, repair=False)


def _look(check: Check, *, repair: bool) -> Finding:
    finding = Finding(name=check.name, says=check.says, advice=check.advice)
    try:
        found, examples = check.look()
        left = found
        if repair and found and check.repair:
            check.repair()
            left, _ = check.look()
    except Exception as error:  # noqa: BLE001 - whatever it is, the other checks tell more
        return replace(finding, problem=f"{type(error).__name__}: {error}")
    return replace(finding, found=found, left=left, examples=examples)


class _Tally:
    """Counts one kind of difference over all tenants and parts."""

    def __init__(self, name: str, says: str, of: Callable[[Differences], Sequence[object]]) -> None:
        self.name, self.says, self._of = name, says, of
        self.found = 0
        self.examples: list[str] = []

    def add(self, differences: Differences) -> None:
        found = self._of(differences)
        self.found += len(found)
        room = MOST_EXAMPLES - len(self.examples)
        self.examples += [_shown(item) for item in found[:room]]

    def finding(self, *, repaired: bool, problem: str) -> Finding:
        left = 0 if repaired else self.found
        finding = Finding(name=self.name, says=self.says, examples=self.examples)
        return replace(finding, found=self.found, left=left, problem=problem)


def _shown(item: object) -> str:
    return ".".join(item) if isinstance(item, tuple) else str(getattr(item, "id", item))


def _compare(parts: Sequence[int], *, repair: bool) -> Iterator[Finding]:
    """A person who says repair has looked whether this is the right store, as no scheduler can."""
    tallies = (
        _Tally("objects without a row", "No entry, and no open work, names them.", lambda found: found.unnamed),
        _Tally("entries without an object", "Storage has lost their sound.", lambda found: found.lost),
        _Tally("files of deleted voices", "Their voice has no row any more.", lambda found: found.strays),
    )
    problem = ""
    try:
        for differences in object_audit.all_differences(parts):
            for tally in tallies:
                tally.add(differences)
            if repair:
                object_audit.reconcile(differences)
    except WorkError as error:
        problem = str(error)
    for tally in tallies:
        yield tally.finding(repaired=repair, problem=problem)


FOREIGN = Check(
    name="folders of no tenant",
    says="Storage has folders of tenants that this database does not know.",
    find=object_audit.foreign_folders,
    advice="Deleted tenants leave them, and so does another Refrain in the same bucket: delete them by hand.",
)
