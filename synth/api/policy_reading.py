"""The body of a request on a TTL rule, read and checked field by field; what a rule can mean, its model checks."""

from typing import Any

from synth.api.policy_serializers import (
    LONGEST_CATEGORY,
    LONGEST_ENGINE,
    LONGEST_NOTE,
    LONGEST_VOICE,
    LOWEST_PRIORITY,
)
from synth.fields import Fields
from synth.models import Policy
from synth.models.policy import LARGEST_FACTOR, LONGEST, LONGEST_WINDOW
from synth.service.own_policies import FIRST_PRIORITY
from synth.spec import MAX_CHARACTERS

TEXTS = {
    "note": LONGEST_NOTE,
    "category": LONGEST_CATEGORY,
    "engine": LONGEST_ENGINE,
    "voice": LONGEST_VOICE,
}
NUMBERS = {
    "min_characters": (0, MAX_CHARACTERS),
    "max_characters": (0, MAX_CHARACTERS),
    "max_age": (1, LONGEST),
    "hot_hits": (1, 2**31 - 1),
    "hot_window": (1, LONGEST_WINDOW),
    "hot_ceiling": (1, LONGEST),
}
FLAGS = {"enabled": True, "pinned": False, "never_cache": False}
FIELDS = frozenset({*TEXTS, *NUMBERS, *FLAGS, "priority", "stale", "hot_factor", "model_change"})
# What an answer holds besides: it may be changed and sent back as it is.
TOLD = frozenset({"id", "object", "editable", "href", "created_at", "updated_at"})


def read_policy(payload: Any) -> dict[str, Any]:
    """The columns of a rule, each one: what is not given has its default. Raises InvalidSpeech."""
    fields = Fields(payload)
    fields.refuse_unknown(FIELDS | TOLD)
    columns: dict[str, Any] = {
        name: fields.text(name, maximum=most, default="").strip() for name, most in TEXTS.items()
    }
    for name, (least, most) in NUMBERS.items():
        columns[name] = fields.integer(name, minimum=least, maximum=most)
    for name, default in FLAGS.items():
        given = fields.flag(name)
        columns[name] = default if given is None else given
    priority = fields.integer("priority", minimum=0, maximum=LOWEST_PRIORITY)
    columns["priority"] = FIRST_PRIORITY if priority is None else priority
    columns["stale"] = fields.integer("stale", minimum=0, maximum=LONGEST) or 0
    factor = fields.number("hot_factor", default=1, minimum=1, maximum=LARGEST_FACTOR)
    columns["hot_factor"] = factor if fields.given("hot_factor") else None
    columns["model_change"] = fields.choice(
        "model_change", Policy.ModelChange.values, default=Policy.ModelChange.SERVE_OLD.value
    )
    fields.raise_if_wrong()
    return columns
