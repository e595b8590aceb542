"""Logging in to the admin: the form with the second factor, what follows too many tries, and who must have one."""

from collections.abc import Callable
from typing import Any

import django_otp
from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django_otp.forms import OTPAuthenticationFormMixin
from unfold.forms import AuthenticationForm
from unfold.widgets import UnfoldAdminTextInputWidget

from tenants import second_factor

# What somebody reaches in the admin before the second factor: the way out, and words for scripts.
OPEN_TO_ALL = frozenset({"login", "logout", "jsi18n"})


def _code_field(label: Any, help_text: Any, *, required: bool) -> forms.CharField:
    widget = UnfoldAdminTextInputWidget(attrs={"autocomplete": "one-time-code", "inputmode": "text"})
    return forms.CharField(label=label, required=required, max_length=32, help_text=help_text, widget=widget)


class LoginForm(OTPAuthenticationFormMixin, AuthenticationForm):  # type: ignore[misc]  # neither has types
    otp_token = _code_field(
        _("Code"), _("Of your authenticator app, or a recovery code. Empty without a second factor."), required=False
    )
    otp_error_messages = {
        **OTPAuthenticationFormMixin.otp_error_messages,
        "token_required": _("This user has a second factor: type in its code, too."),
        "invalid_token": _("This code is wrong, or was used before."),
    }

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        user = self.get_user()
        if user is not None and second_factor.has_one(user):
            code = cleaned.get("otp_token", "").strip()
            if not code:
                raise forms.ValidationError(self.otp_error_messages["token_required"], code="token_required")
            user.otp_device = self._verify_token(user, code, second_factor.device_for(user, code))
        return cleaned


class CodeForm(forms.Form):
    code = _code_field(_("Code"), _("The six digits that your app shows now."), required=True)


class SecondFactorMiddleware:
    """Who has a second factor, or must have one, sees no page of the admin without it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        match = request.resolver_match
        if match is None or match.app_name != "admin" or match.url_name in OPEN_TO_ALL:
            return None
        user: Any = request.user
        if not user.is_authenticated or user.is_verified():
            return None
        if second_factor.has_one(user):  # got in before there was one
            logout(request)
            return None  # to the log-in, as everybody who is not logged in
        return redirect("second-factor") if settings.REFRAIN_ADMIN_TWO_FACTOR == "required" else None


@never_cache
@login_required(login_url="admin:login")
def second_factor_page(request: HttpRequest) -> HttpResponse:
    """Shows the secret, takes the first code, and shows the recovery codes once: they pass through no session."""
    user: Any = request.user
    if not admin.site.has_permission(request):
        return redirect("admin:login")
    codes: list[str] = []
    form = CodeForm(request.POST or None)
    has_one = second_factor.has_one(user)
    if request.method == "POST" and not has_one and form.is_valid():
        confirmed = second_factor.confirm(user, form.cleaned_data["code"].strip())
        if confirmed is None:
            form.add_error("code", _("This code is wrong, or was used before."))
        else:
            device, codes = confirmed
            django_otp.login(request, device)
            has_one = True
    device = None if has_one else second_factor.begin(user)
    context = {
        **admin.site.each_context(request),
        "title": gettext("Second factor"),
        "form": form,
        "codes": codes,
        "has_one": has_one,
        "secret": second_factor.secret_of(device) if device else "",
        "picture": second_factor.picture_of(device) if device else "",
    }
    return TemplateResponse(request, "admin/second_factor.html", context)


def locked(request: HttpRequest, _response: HttpResponse | None, _credentials: dict[str, Any] | None) -> HttpResponse:
    """For django-axes, after too many failures."""
    wait = settings.AXES_COOLOFF_TIME
    context = {**admin.site.each_context(request), "title": gettext("Too many tries"), "minutes": wait.seconds // 60}
    headers = {"Retry-After": str(wait.seconds)}
    response = TemplateResponse(request, "admin/locked.html", context, status=429, headers=headers)
    return response.render()
