"""Logging in to the admin: too many wrong passwords lock out, and a second factor is asked for, once there is one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from tenants import second_factor

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

PASSWORD = "a long password of root"
HOME = reverse("admin:index")


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root", password=PASSWORD)


def log_in(client: Client, password: str = PASSWORD, code: str = "", **extra: Any) -> Any:
    form = {"username": "root", "password": password, "otp_token": code, "next": HOME}
    return client.post(reverse("admin:login"), form, **extra)


def code_of(user: User) -> str:
    """As an app shows it; that of the step after the last one that was used."""
    device = TOTPDevice.objects.get(user=user)
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits)
    totp.time = max(totp.time, (device.last_t + 1) * device.step) if device.last_t > 0 else totp.time
    return f"{totp.token():06}"


def enrol(client: Client, user: User) -> list[str]:
    """The recovery codes."""
    address = reverse("second-factor")
    assert "data:image/svg+xml" in client.get(address).content.decode()
    page = client.post(address, {"code": code_of(user)})
    listed = re.search(r'<ul id="recovery-codes".*?</ul>', page.content.decode(), re.DOTALL)
    assert listed
    return re.findall(r"<li>(\w+)</li>", listed[0])


def test_six_wrong_passwords_lock_out_even_the_right_one(client: Client, root: User) -> None:
    for _number in range(4):
        assert log_in(client, "wrong").status_code == 200
    answer = log_in(client, "wrong")
    assert answer.status_code == 429
    assert answer["Retry-After"] == "900"
    assert log_in(client).status_code == 429
    assert log_in(Client(), REMOTE_ADDR="192.0.2.7").status_code == 302  # nobody locks others out
    assert PASSWORD not in str(list(AccessAttempt.objects.values()))


def test_without_a_second_factor_the_password_is_enough_where_none_is_required(client: Client, root: User) -> None:
    assert log_in(client).status_code == 302
    assert client.get(HOME).status_code == 200


def test_where_one_is_required_nothing_else_is_shown_before(client: Client, root: User, settings: Any) -> None:
    settings.REFRAIN_ADMIN_TWO_FACTOR = "required"
    log_in(client)
    for address in (HOME, reverse("admin:tenants_tenant_changelist"), reverse("admin:password_change")):
        answer = client.get(address)
        assert (answer.status_code, answer["Location"]) == (302, reverse("second-factor"))
    assert len(set(enrol(client, root))) == second_factor.RECOVERY_CODES
    assert client.get(HOME).status_code == 200


def test_who_has_one_needs_its_code(client: Client, root: User) -> None:
    other = Client()
    assert log_in(other).status_code == 302
    log_in(client)
    recovery = enrol(client, root)
    assert other.get(HOME).status_code == 302  # logged in before: out again
    client.logout()
    assert log_in(client).context["form"].errors
    assert log_in(client, code="abcdefgh").context["form"].errors
    StaticToken.objects.get(token=recovery[0]).device.throttle_reset()
    assert log_in(client, code=recovery[0]).status_code == 302
    assert client.get(HOME).status_code == 200
    client.logout()
    assert log_in(client, code=recovery[0]).context["form"].errors  # once
    assert log_in(Client(), "wrong", code=recovery[1]).context["form"].errors


def test_the_code_of_the_app_lets_in_once(client: Client, root: User) -> None:
    log_in(client)
    enrol(client, root)
    client.logout()
    code = code_of(root)
    assert log_in(client, code=code).status_code == 302
    client.logout()
    assert log_in(client, code=code).context["form"].errors


def test_a_wrong_first_code_confirms_nothing(client: Client, root: User) -> None:
    log_in(client)
    client.get(reverse("second-factor"))
    wrong = f"{(int(code_of(root)) + 1) % 1_000_000:06}"
    assert client.post(reverse("second-factor"), {"code": wrong}).context["form"].errors
    assert not second_factor.has_one(root)


def test_an_administrator_makes_it_forgotten(admin_client: Client, root: User) -> None:
    client = Client()
    log_in(client)
    enrol(client, root)
    sent = {"action": "forget_second_factor", "_selected_action": [str(root.pk)]}
    admin_client.post(reverse("admin:auth_user_changelist"), sent)
    assert not second_factor.has_one(root)
    assert log_in(Client()).status_code == 302


def test_strangers_are_sent_to_the_login(client: Client, root: User) -> None:
    answer = client.get(reverse("second-factor"))
    assert (answer.status_code, reverse("admin:login") in answer["Location"]) == (302, True)
