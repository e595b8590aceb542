"""Reads the admin's pages: addresses, what a list shows, the players in it."""

from __future__ import annotations

import html
import re

from django.urls import reverse

LISTS = ("entry", "job", "rendering", "synthesis", "enginecardrow")


def list_of(model: str) -> str:
    return reverse(f"admin:synth_{model}_changelist")


def page_of(row: object) -> str:
    return reverse(f"admin:synth_{row._meta.model_name}_change", args=[row.pk])


def rows_of(client, model: str, **query: str) -> list[object]:
    answer = client.get(list_of(model), query)
    assert answer.status_code == 200
    return list(answer.context["cl"].result_list)


def players(page: str) -> list[str]:
    """The addresses that the players of a page would load."""
    tags = re.findall(r"<audio[^>]*>", page)
    assert all('preload="none"' in tag and " controls" in tag for tag in tags)
    return [html.unescape(re.search(r'src="([^"]+)"', tag)[1]) for tag in tags]


def words(page: str) -> str:
    """The text of a page, as a reader sees it."""
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", page).split()))
