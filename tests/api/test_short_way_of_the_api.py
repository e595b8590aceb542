"""The API's requests pass no middleware of pages, and keep what protects them."""

import pytest
from django.test import Client

from tests.world import World

pytestmark = pytest.mark.any_database
WAYS = ["/v1/speech", "/v1/voices", "/v1/nothing-is-here", "/files/none/at/all.wav"]


@pytest.mark.django_db
@pytest.mark.parametrize("address", WAYS)
def test_no_session_no_cookie_no_form_token(client: Client, world: World, address: str) -> None:
    response = client.get(address, headers={"Authorization": f"Bearer {world.owner.token}"})
    assert not response.cookies
    assert "Cookie" not in response.get("Vary", "")
    assert not hasattr(response.wsgi_request, "session")


@pytest.mark.django_db
@pytest.mark.parametrize("address", WAYS)
def test_what_protects_every_answer_is_there(client: Client, address: str) -> None:
    response = client.get(address)
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["X-Request-Id"].startswith("req_")
    assert response["Content-Length"] == str(len(response.content))


@pytest.mark.django_db
@pytest.mark.parametrize("address", WAYS)
def test_a_foreign_host_is_refused_in_our_words(client: Client, address: str) -> None:
    response = client.get(address, headers={"Host": "elsewhere.example"})
    assert response.status_code == 400
    assert response.json()["code"] == "bad_request"


@pytest.mark.django_db
def test_pages_have_their_sessions(client: Client) -> None:
    response = client.get("/admin/login/")
    assert response.status_code == 200
    assert hasattr(response.wsgi_request, "session")
