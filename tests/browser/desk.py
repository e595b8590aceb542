"""An operator at the admin in a real browser: a page of a size, signed in, and what it complains of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Literal

from django.urls import reverse
from playwright.sync_api import Browser, Page

PASSWORD = "the password of the tests"
# Set to a folder to keep a picture of each page.
PICTURES = os.environ.get("BROWSER_PICTURES", "")
IS_DARK = """() => document.documentElement.classList.contains('dark')"""
OVERFLOW = """() => document.documentElement.scrollWidth - document.documentElement.clientWidth"""


def log_in(page: Page, url: str) -> None:
    """As the superuser `root`."""
    page.goto(url + reverse("admin:login"))
    page.fill("input[name=username]", "root")
    page.fill("input[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_url(url + reverse("admin:index"))


def signed_in(
    chromium: Browser, url: str, *, width: int, locale: str = "en", scheme: Literal["light", "dark"] = "dark"
) -> tuple[Page, list[str]]:
    """A page after login, and the list that its script errors go to from before it."""
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, locale=locale)
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(f"{said.text} {said.location}") if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    log_in(page, url)
    return page, complaints


def in_both_schemes(page: Page) -> Iterator[str]:
    """While the page shows them, the scheme that it was loaded in and the other one, which the next page loads in."""
    loaded_dark = page.evaluate(IS_DARK)
    yield "dark" if loaded_dark else "light"
    page.keyboard.press("Control+e")  # Unfold's own key for it, from the browser's dark first to light
    page.wait_for_function(f"before => ({IS_DARK})() !== before", arg=loaded_dark)
    yield "light" if loaded_dark else "dark"
