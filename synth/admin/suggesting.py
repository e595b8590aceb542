"""A text field that suggests what there is, and takes anything: a rule may be older or newer than a voice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminTextInputWidget

from synth import selectors


class SuggestingInput(UnfoldAdminTextInputWidget):
    """`suggestions` is asked each time the field is shown."""

    def __init__(self, suggestions: Callable[[], Iterable[str]], attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs)
        self._suggestions = suggestions

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        listed = f"suggestions_{name}"
        field = super().render(name, value, {**(attrs or {}), "list": listed}, renderer)
        options = format_html_join("", '<option value="{}">', ((text,) for text in self._suggestions()))
        return format_html('{}<datalist id="{}">{}</datalist>', field, listed, options)


def engine_names() -> list[str]:
    return [card.name for card in selectors.cards()]


def voice_names() -> list[str]:
    return sorted({voice.name for card in selectors.cards() for voice in card.voices})
