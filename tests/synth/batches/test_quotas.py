"""Items of a batch count for quotas one by one: those that fit are made, each of the others says why not."""

from __future__ import annotations

from tenants import service as tenant_service
from tests.synth.batches.conftest import Sender, item

ITEMS = [item(f"Number {number}.") for number in range(5)]  # nine characters each


def test_what_does_not_fit_fails_with_its_code(owner: Sender) -> None:
    tenant_service.limit_quotas(owner.member.tenant, characters_per_day=28)
    ended = owner.finish(owner.send(*ITEMS))
    assert owner.counts(ended) == {"total": 5, "succeeded": 3, "failed": 2}
    errors = [told["error"]["code"] for told in owner.items(ended, status="failed")]
    assert errors == ["quota_exceeded"] * 2


def test_what_engines_may_speak_counts_too_and_what_is_there_costs_nothing(owner: Sender) -> None:
    owner.speak("Number 0.")
    tenant_service.limit_quotas(owner.member.tenant, synthesis_per_day=28)
    ended = owner.finish(owner.send(*ITEMS))
    assert owner.counts(ended) == {"total": 5, "cached": 1, "succeeded": 2, "failed": 2}
