"""The tenants' guide names every field of a request and every code that a refusal may have."""

import re
from pathlib import Path

import pytest

from synth.api import key_reading, policy_reading, voice_reading, webhook_reading
from synth.audio import references
from synth.spec import FIELDS
from tests.api.test_keys import REFUSED_KEYS
from tests.api.test_own_policies import REFUSED_RULES
from tests.api.test_translations import problem_kinds
from tests.api.test_voice_uploads import REFUSED
from tests.api.test_webhooks import REFUSED_ENDPOINTS
from tests.api.test_what_a_request_may_say import REFUSALS

GUIDE = (Path(__file__).resolve().parents[2] / "docs/api.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`([a-z_]+)`", GUIDE))


def test_every_field_is_named() -> None:
    assert FIELDS <= NAMED
    assert voice_reading.FIELDS <= NAMED
    assert webhook_reading.FIELDS <= NAMED
    assert key_reading.FIELDS <= NAMED
    assert policy_reading.FIELDS <= NAMED


@pytest.mark.parametrize("code", sorted({kind.code for kind in problem_kinds()}))
def test_every_problem_is_named(code: str) -> None:
    assert code in NAMED


@pytest.mark.parametrize(
    "code",
    sorted(
        {
            code
            for _, told in [*REFUSALS, *REFUSED, *REFUSED_ENDPOINTS, *REFUSED_KEYS, *REFUSED_RULES]
            for code in told.values()
        }
    ),
)
def test_every_code_of_a_field_is_named(code: str) -> None:
    assert code in NAMED


@pytest.mark.parametrize("code", sorted(references.REFUSALS))
def test_every_reason_to_refuse_a_recording_is_named(code: str) -> None:
    assert code in NAMED
