"""The sentences of a rendering as a table: on the pages of jobs and of renderings."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from synth import selectors
from synth.admin.base import excerpt, link, seconds
from synth.models import Rendering

SHOWN = 100


def sentences_table(rendering: Rendering) -> dict[str, Any]:
    """What `admin/synth/sentences.html` shows: the first hundred, and whether there are more."""
    found = selectors.sentences(rendering, limit=SHOWN + 1)
    headers = [_("No."), _("sentence"), _("state"), _("attempt"), _("engine seconds"), _("audio")]
    return {
        "table": {"headers": headers, "rows": [_row(sentence) for sentence in found[:SHOWN]]},
        "shown": SHOWN,
        "cut": len(found) > SHOWN,
    }


def _row(sentence: selectors.Sentence) -> list[Any]:
    synthesis, entry = sentence.synthesis, sentence.entry
    shown = excerpt(sentence.text)
    return [
        sentence.position + 1,
        link("synth_synthesis", synthesis.id, shown) if synthesis else shown,
        synthesis.get_state_display() if synthesis else _("was stored already"),
        synthesis.attempt if synthesis else "",
        seconds(synthesis.engine_seconds) if synthesis else "",
        link("synth_entry", entry.id, _("listen")) if entry else "",
    ]
