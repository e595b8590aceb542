"""A request with a `callback` gets 202 at once, also for what is there already, and leaves one event for its end."""

from typing import Any

import pytest

from synth.models import Job, Rendering, WebhookEndpoint, WebhookEvent
from synth.models.states import State
from tenants.models import Usage
from tests.api.caller import Caller, refused_fields
from tests.finished import finish
from tests.world import Member

pytestmark = pytest.mark.django_db

TEXT = "Hello there."
URL = "https://hooks.example/refrain"


def endpoint(member: Member, url: str = URL, **fields: Any) -> WebhookEndpoint:
    return WebhookEndpoint.objects.create(tenant=member.tenant, url=url, **fields)


def events() -> list[tuple[str, str]]:
    return list(WebhookEvent.objects.order_by("id").values_list("type", "subject"))


def test_a_miss_is_queued_and_nobody_waits(owner: Caller) -> None:
    hook = endpoint(owner.member)
    response = owner.post({"text": TEXT, "callback": hook.public_id})  # without `wait` it would be 30 s
    body = response.json()
    assert (response.status_code, body["status"]) == (202, "queued")
    assert owner.get(body["href"]).json()["callback"] == hook.public_id
    assert events() == []


def test_a_hit_is_told_of_at_once(owner: Caller) -> None:
    done = finish(owner.member, {"text": TEXT})
    hook = endpoint(owner.member)
    for delivery in ("url", "binary"):
        response = owner.speak(text=TEXT, callback=hook.public_id, delivery=delivery, metadata={"a": 1})
        body = response.json()
        assert (response.status_code, body["status"]) == (202, "succeeded")
        job = owner.get(body["href"]).json()
        assert (job["audio"]["sha256"], job["metadata"]) == (done.digest, {"a": 1})
        event = WebhookEvent.objects.get(subject=body["id"])
        assert (event.type, event.endpoint_id, event.url) == ("speech.succeeded", hook.id, "")
        assert (event.data["status"], event.data["metadata"]) == ("succeeded", {"a": 1})
    assert Rendering.objects.count() == 1, "the hits share the rendering that made it"


def test_a_hit_of_the_catalogue_is_told_of_and_charged_once(owner: Caller) -> None:
    done = finish(owner.member, {"text": TEXT})
    Job.objects.update(accounted=True)
    Rendering.objects.update(entry_id=None)  # no longer known as the one that made it
    response = owner.speak(text=TEXT, callback=endpoint(owner.member).public_id)
    job = Job.objects.get(id__in=[WebhookEvent.objects.get().subject.removeprefix("job_")])
    assert (response.status_code, job.state, job.rendering.digest) == (202, State.SUCCEEDED, done.digest)
    assert list(Usage.objects.values_list("outcome", flat=True)) == ["restored"]
    assert job.accounted


def test_a_url_is_allowed_where_an_endpoint_of_its_origin_allows_it(owner: Caller) -> None:
    hook = endpoint(owner.member, any_path=True)
    other = f"{URL}/jobs/7?token=a"
    body = owner.speak(text=TEXT, callback=other).json()
    job = Job.objects.get()
    assert (job.callback_id, job.callback_url) == (hook.id, other)
    assert owner.get(body["href"]).json()["callback"] == other


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example:8443/a",
        "http://hooks.example/a",
        "https://hooks.example.org/a",
        "https://other.example/a",
    ],
)
def test_a_url_of_another_origin_is_refused(owner: Caller, url: str) -> None:
    endpoint(owner.member, any_path=True)
    assert refused_fields(owner.speak(text=TEXT, callback=url)) == {"callback": "callback_not_allowed"}
    assert not Job.objects.exists()


@pytest.mark.parametrize(("path", "code"), [("/a#", "fragment_in_url"), ("/ä", "invalid_url")])
def test_a_url_that_could_never_be_sent_to_is_refused(owner: Caller, path: str, code: str) -> None:
    """It would be tried for days, and count as failures of the endpoint that vouches for it."""
    endpoint(owner.member, any_path=True)
    answer = owner.speak(text=TEXT, callback=f"https://hooks.example{path}")
    assert refused_fields(answer) == {"callback": code}


def test_a_url_that_the_operator_does_not_allow_any_more_is_refused(owner: Caller, settings: Any) -> None:
    endpoint(owner.member, any_path=True)
    settings.REFRAIN = {**settings.REFRAIN, "WEBHOOK_PORTS": [8443]}
    assert refused_fields(owner.speak(text=TEXT, callback=f"{URL}/a")) == {"callback": "port_not_allowed"}


def test_a_port_that_is_the_schemes_own_is_the_same_origin(owner: Caller) -> None:
    endpoint(owner.member, any_path=True)
    assert owner.speak(text=TEXT, callback="https://HOOKS.example:443/a").status_code == 202


def test_a_strangers_endpoint_does_not_exist(owner: Caller, stranger: Caller) -> None:
    theirs = endpoint(stranger.member, any_path=True)
    assert refused_fields(owner.speak(text=TEXT, callback=theirs.public_id)) == {"callback": "unknown_endpoint"}
    assert refused_fields(owner.speak(text=TEXT, callback=f"{URL}/a")) == {"callback": "callback_not_allowed"}


def test_a_disabled_endpoint_is_refused(owner: Caller) -> None:
    hook = endpoint(owner.member, any_path=True, status=WebhookEndpoint.Status.DISABLED)
    assert refused_fields(owner.speak(text=TEXT, callback=hook.public_id)) == {"callback": "endpoint_disabled"}
    assert refused_fields(owner.speak(text=TEXT, callback=f"{URL}/a")) == {"callback": "callback_not_allowed"}


def test_a_canceled_job_is_told_of(owner: Caller) -> None:
    body = owner.speak(text=TEXT, callback=endpoint(owner.member).public_id).json()
    owner.delete(body["href"])
    owner.delete(body["href"])
    assert events() == [("speech.canceled", body["id"])]


def test_without_a_callback_nothing_is_told(owner: Caller) -> None:
    endpoint(owner.member)
    owner.delete(owner.speak(text=TEXT).json()["href"])
    assert events() == []
