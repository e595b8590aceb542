"""create_tenant, issue_key and revoke_key: the answer alone on standard output, notes on standard error."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tenants.authentication import find_record, identify
from tenants.errors import Unauthenticated
from tenants.models import ApiKey, Tenant
from tenants.scopes import SCOPES, SPEECH_READ

pytestmark = pytest.mark.django_db


def run(*args: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(*args, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def caller(token: str):
    return identify(find_record(token), token, now=timezone.now())


def test_from_a_tenant_to_a_working_key_to_none():
    slug = run("create_tenant", "Acme")[0].strip()
    out, err = run("issue_key", slug, "--name", "back end")
    token = out.removesuffix("\n")
    assert caller(token).tenant == Tenant.objects.get(slug=slug).ref
    assert caller(token).scopes == set(SCOPES)
    assert token not in err
    key = ApiKey.objects.get()
    assert key.name == "back end"
    assert key.lookup in err
    assert run("revoke_key", key.lookup)[0] == ""
    with pytest.raises(Unauthenticated):
        caller(token)


def test_a_key_with_one_scope_and_an_end():
    run("create_tenant", "Acme", "--slug", "ac")
    token = run("issue_key", "ac", "--scope", SPEECH_READ, "--days", "1.5", "--kind", "test")[0].strip()
    assert token.startswith("rfr_test_")
    assert caller(token).scopes == {SPEECH_READ}
    ends = ApiKey.objects.get().expires_at
    assert timedelta(days=1.4) < ends - timezone.now() < timedelta(days=1.6)


def test_a_key_is_revoked_by_id_too_and_twice_is_no_error():
    run("create_tenant", "Acme", "--slug", "ac")
    run("issue_key", "ac")
    key = ApiKey.objects.get()
    assert "is revoked" in run("revoke_key", str(key.id))[1]
    assert "was revoked before" in run("revoke_key", str(key.id))[1]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["create_tenant", "Other", "--slug", "ac"], "already"),
        (["create_tenant", "Other", "--slug", "a c"], "hyphens"),
        (["issue_key", "nobody"], "create_tenant"),
        (["issue_key", "ac", "--scope", "speech:sing"], "speech:read"),
        (["issue_key", "ac", "--days", "-1"], "past"),
        (["revoke_key", "nothing"], "no key"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(args, says):
    run("create_tenant", "Acme", "--slug", "ac")
    with pytest.raises(CommandError, match=says):
        run(*args)
    assert not ApiKey.objects.exists()
