"""What a key may do: the scope that a view names for the method, and nothing else."""

import pytest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from tenants import service
from tenants.errors import Forbidden, InvalidRequest, Unauthenticated
from tenants.permissions import HasScope
from tenants.scopes import ALL, SCOPES, SPEECH_READ, SPEECH_WRITE
from tenants.types import Caller, TenantRef


def answer(view: APIView, request: Request) -> Response:  # any handler will do: permissions never reach it
    return Response()


class Speeches(APIView):
    required_scopes = {"GET": SPEECH_READ, "POST": SPEECH_WRITE}
    get = head = post = delete = answer


class Undeclared(APIView):
    get = answer


def allowed(method: str, scopes=ALL, view=Speeches) -> bool:
    request = Request(APIRequestFactory().generic(method, "/"))
    tenant = TenantRef(id=service.new_id())
    request.auth = None if scopes is None else Caller(tenant=tenant, key_id=tenant.id, scopes=frozenset(scopes))
    return HasScope().has_permission(request, view())


@pytest.mark.parametrize(("method", "scope"), [("GET", SPEECH_READ), ("HEAD", SPEECH_READ), ("POST", SPEECH_WRITE)])
def test_the_declared_scope_is_needed_and_enough(method, scope):
    assert allowed(method, {scope})
    with pytest.raises(Forbidden) as caught:
        allowed(method, ALL - {scope})
    assert caught.value.params == {"scope": scope}
    assert scope in str(caught.value)


def test_a_method_without_a_declared_scope_is_refused_to_all():
    with pytest.raises(Forbidden):
        allowed("DELETE")
    with pytest.raises(Forbidden):
        allowed("OPTIONS")
    with pytest.raises(Forbidden):
        allowed("GET", view=Undeclared)


def test_a_method_that_the_view_lacks_is_left_to_the_405():
    assert allowed("PUT", set())
    assert allowed("BREW", set())


def test_without_a_caller_it_is_401():
    with pytest.raises(Unauthenticated):
        allowed("GET", None)
    with pytest.raises(Unauthenticated):
        allowed("PUT", None)


def test_a_key_keeps_its_scopes_in_one_order(world):
    key, _ = service.issue_key(world.owner.tenant, "all", reversed(SCOPES))
    assert key.scopes == list(SCOPES)


@pytest.mark.parametrize(("scopes", "code"), [(["speech:sing", SPEECH_READ], "unknown_scope"), ([], "no_scope")])
def test_unknown_scopes_and_none_are_refused(world, scopes, code):
    with pytest.raises(InvalidRequest) as caught:
        service.issue_key(world.owner.tenant, "bad", scopes)
    (field,) = caught.value.fields
    assert (field.field, field.code) == ("scopes", code)
    for scope in SCOPES:
        assert scope in str(caught.value)
