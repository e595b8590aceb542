"""What the sweeper and the doctor look for: something that is wrong, how to find it, and how to repair it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

MOST_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """`says` is what it means when something is found, `advice` what a person can do beyond the repair.

    Without `repair` nothing but a person can help.
    """

    name: str
    says: str
    find: Callable[[], QuerySet[Any] | Sequence[str]]
    repair: Callable[[], object] | None = None
    advice: str = ""

    def look(self) -> tuple[int, list[str]]:
        """How many there are, and some of them."""
        found = self.find()
        if isinstance(found, QuerySet):
            return found.count(), [str(row.pk) for row in found[:MOST_EXAMPLES]]
        return len(found), list(found[:MOST_EXAMPLES])

    def put_right(self) -> None:
        """Repair, when there is anything: to find nothing takes no lock."""
        found = self.find()
        if self.repair and (found.exists() if isinstance(found, QuerySet) else found):
            self.repair()
