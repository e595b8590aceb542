"""The second factor of an admin user: codes of an authenticator app, and recovery codes. The log-in asks here."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import qrcode
import qrcode.image.svg
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django_otp import devices_for_user, user_has_device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

NAME = "authenticator"
RECOVERY = "recovery"
RECOVERY_CODES = 10


def has_one(user: AbstractBaseUser) -> bool:
    return bool(user_has_device(user))


def begin(user: AbstractBaseUser) -> TOTPDevice:
    """The secret to be shown until a code of it confirms that the user has it; the same one until then."""
    device, _made = TOTPDevice.objects.get_or_create(user=user, confirmed=False, defaults={"name": NAME})
    return device


@transaction.atomic
def confirm(user: AbstractBaseUser, code: str) -> tuple[TOTPDevice, list[str]] | None:
    """The device in use from now on, and its recovery codes, which are kept as they are: shown once. None: wrong."""
    device = TOTPDevice.objects.select_for_update().filter(user=user, confirmed=False).first()
    if device is None or not device.verify_token(code):
        return None
    device.confirmed = True
    device.save()
    return device, list(_recovery_codes(user))


def forget(user: AbstractBaseUser) -> None:
    for device in devices_for_user(user, confirmed=None):
        device.delete()


def device_for(user: AbstractBaseUser, code: str) -> TOTPDevice | StaticDevice | None:
    """Which of a user's devices a code can be of: those of apps are digits, recovery codes are not."""
    kind = TOTPDevice if code.isdigit() else StaticDevice
    found: TOTPDevice | StaticDevice | None = kind.objects.filter(user=user, confirmed=True).first()
    return found


def secret_of(device: TOTPDevice) -> str:
    """As people type it into their app."""
    return base64.b32encode(device.bin_key).decode()


def picture_of(device: TOTPDevice) -> str:
    """An address that an `img` shows: the QR code of the secret."""
    drawn: Any = qrcode.make(device.config_url, image_factory=qrcode.image.svg.SvgPathFillImage)
    buffer = BytesIO()
    drawn.save(buffer)
    return f"data:image/svg+xml;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _recovery_codes(user: AbstractBaseUser) -> Iterator[str]:
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name=RECOVERY)
    for _number in range(RECOVERY_CODES):
        code = StaticToken.random_token()
        device.token_set.create(token=code)
        yield code
