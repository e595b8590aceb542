"""A1: requests drawn from the OpenAPI document, valid and broken ones, and a storm of bodies under one key.

The short forms are tests: `tests/api/test_the_document_holds.py` and `tests/flows/test_idempotent_requests.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import FailureGroup, ServerError
from schemathesis.openapi.checks import UndefinedStatusCode

from tests.faults.asking import crowd
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.stack import Stack

NAMES = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


def play(make_stack: MakeStack, *, seed: int, examples: int, storm: int) -> Figures:
    stack = make_stack()
    stack.api(2)
    stack.engine_worker(2)
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    found = _draw(stack, number=seed, examples=examples)
    bodies = [{"text": f"Body {at} of the storm.", "wait": 0} for at in range(storm)]
    answers = crowd(stack, bodies, key=f"storm-{seed}")
    statuses = Counter(answer.status for answer in answers)
    return {
        "undrawn": 1 - bool(found.total()),
        "server_errors": found[ServerError],
        "undocumented_statuses": found[UndefinedStatusCode],
        "violations": found.total() - found[ServerError] - found[UndefinedStatusCode] - found[int],
        "storm_jobs_beside_one": abs(statuses[200] + statuses[202] - 1),
        "storm_other_answers": storm - sum(statuses[status] for status in (200, 202, 409, 422)),
    }


def _draw(stack: Stack, *, number: int, examples: int) -> Counter[Any]:
    """How many failures of each kind; under `int` how many requests there were."""
    load_all_checks()
    schema = schemathesis.openapi.from_url(f"{stack.children[0].url}/v1/openapi.json")
    headers = {"Authorization": f"Bearer {stack.seeded.owner}"}
    drawn_by = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    found: Counter[Any] = Counter()
    for operation in (result.ok() for result in schema.get_all_operations()):
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            cases = operation.as_strategy(generation_mode=mode)
            seed(number)(drawn_by(given(cases)(_asking(found, headers))))()
    return found


def _asking(found: Counter[Any], headers: dict[str, str]) -> Callable[[Any], None]:
    checks = [CHECKS.get_one(name) for name in NAMES]

    def ask(case: Any) -> None:
        found[int] += 1
        try:
            case.call_and_validate(headers=headers, checks=checks, timeout=70)
        except FailureGroup as failed:
            print(case.operation.label, *failed.exceptions, sep="\n  ")
            found.update(type(failure) for failure in failed.exceptions)

    return ask


ROW = Row(
    name="A1",
    title="requests drawn from the OpenAPI document, and a storm under one idempotency key",
    play=play,
    short={"examples": 2, "storm": 50},
    long={"examples": 40, "storm": 50},
    limits={
        "undrawn": 0,
        "server_errors": 0,
        "undocumented_statuses": 0,
        "violations": 0,
        "storm_jobs_beside_one": 0,
        "storm_other_answers": 0,
    },
    in_tests=False,
)
