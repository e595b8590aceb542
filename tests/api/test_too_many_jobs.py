"""A request beyond what may wait gets 429 with what it takes to come back; what is known is answered all the same."""

import pytest

from synth.models import Job
from tenants import service
from tests.api.caller import Caller, problem
from tests.finished import finish

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


@pytest.fixture(autouse=True)
def _one(owner: Caller) -> None:
    service.limit_work(owner.member.tenant, max_open_jobs=1, max_running=None)


def test_beyond_the_limit_it_is_429_and_nothing_is_queued(owner: Caller) -> None:
    assert owner.speak(text="One.").status_code == 202
    refused = owner.speak(text="Two.", headers={"Accept-Language": "en"})
    body = problem(refused)
    assert (refused.status_code, body["code"], body["max_open_jobs"]) == (429, "too_many_jobs", 1)
    assert body["detail"].startswith("1 requests of this account wait")
    assert int(refused["Retry-After"]) == body["retry_after"] == 5
    assert Job.objects.count() == 1


@pytest.mark.parametrize("how", [{"cache": "refresh"}, {"cache": "bypass"}, {"wait": 0.1}])
def test_however_it_is_asked(owner: Caller, how: dict[str, object]) -> None:
    owner.speak(text="One.")
    assert owner.speak(text="Two.", **how).status_code == 429


def test_what_is_known_is_answered(owner: Caller) -> None:
    finish(owner.member, {"text": "Known."})
    assert owner.speak(text="One.").status_code == 202
    assert [owner.speak(text="Known.").json()["cache"] for _ in range(2)] == ["restored", "hit"]
    assert owner.speak(text="Two.").status_code == 429


def test_a_canceled_job_makes_room(owner: Caller) -> None:
    job = owner.speak(text="One.").json()
    assert owner.speak(text="Two.").status_code == 429
    owner.delete(f"/v1/speech/{job['id']}")
    assert owner.speak(text="Two.").status_code == 202


def test_an_old_limit_is_not_remembered(owner: Caller) -> None:
    owner.speak(text="One.")
    assert owner.speak(text="Two.").status_code == 429
    service.limit_work(owner.member.tenant, max_open_jobs=2, max_running=None)
    assert [owner.speak(text=text).status_code for text in ("Two.", "Three.")] == [202, 429]


def test_a_key_has_a_limit_of_its_own(owner: Caller) -> None:
    service.limit_work(owner.member.tenant, max_open_jobs=0, max_running=None)
    service.limit_key_quotas(owner.member.key, max_open_jobs=2)
    answers = [owner.speak(text=f"Number {number}.") for number in range(3)]
    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert problem(answers[-1])["max_open_jobs"] == 2
