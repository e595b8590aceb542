"""An operator cancels jobs: from the list, many at once, and from a job's own page."""

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from synth.models import Job
from synth.models.states import State
from tests.synth.admin.pages import list_of, page_of
from tests.synth.admin.rows import CHINESE, ENGLISH, make_work
from tests.world import World

pytestmark = pytest.mark.django_db


def cancel(browser, *jobs: Job):
    data = {"action": "cancel", "_selected_action": [str(job.id) for job in jobs]}
    return browser.post(list_of("job"), data, follow=True)


def state_of(job: Job) -> str:
    return Job.objects.get(id=job.id).state


@pytest.fixture
def viewer(client, db):
    """Staff who may look at jobs, and no more."""
    user = User.objects.create_user("viewer", password="viewer-password", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_job"))
    client.force_login(user)
    return client


def test_what_is_open_is_canceled_and_what_has_ended_stays(admin_client, world: World):
    waiting = make_work(world.owner.tenant, CHINESE, state=State.QUEUED)
    other = make_work(world.stranger.tenant, ENGLISH, state=State.QUEUED)
    done = make_work(world.owner.tenant, ENGLISH)
    page = cancel(admin_client, waiting.job, other.job, done.job)
    assert [state_of(work.job) for work in (waiting, other, done)] == ["canceled", "canceled", "succeeded"]
    assert [str(message) for message in page.context["messages"]] == ["Canceled: 2", "Had ended before: 1"]
    waiting.syntheses[0].refresh_from_db()
    assert waiting.syntheses[0].state == State.CANCELED


def test_a_job_not_chosen_goes_on(admin_client, world: World):
    chosen = make_work(world.owner.tenant, CHINESE, state=State.QUEUED).job
    other = make_work(world.owner.tenant, ENGLISH, state=State.QUEUED).job
    cancel(admin_client, chosen)
    assert (state_of(chosen), state_of(other)) == ("canceled", "queued")


def test_a_job_is_canceled_from_its_page_after_a_question(admin_client, world: World):
    job = make_work(world.owner.tenant, CHINESE, state=State.QUEUED).job
    address = reverse("admin:synth_job_cancel_this", args=[job.id])
    assert address in admin_client.get(page_of(job)).content.decode()
    assert "Cancel this job?" in admin_client.get(address).content.decode()
    assert state_of(job) == "queued"  # looking at the question changes nothing
    answer = admin_client.post(address, {"_form_submitted": "on"})
    assert (answer.status_code, answer["HX-Redirect"]) == (200, page_of(job))
    assert state_of(job) == "canceled"
    assert address not in admin_client.get(page_of(job)).content.decode()


def test_who_may_only_look_cannot_cancel(viewer, world: World):
    job = make_work(world.owner.tenant, CHINESE, state=State.QUEUED).job
    address = reverse("admin:synth_job_cancel_this", args=[job.id])
    assert address not in viewer.get(page_of(job)).content.decode()
    cancel(viewer, job)
    assert viewer.post(address, {"_form_submitted": "on"}).status_code == 403
    assert state_of(job) == "queued"
