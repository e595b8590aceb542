"""Every text that a caller may see has a Chinese translation, and the compiled catalogue is the written one."""

import gettext
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from synth.api import files, jobs, keys, speech  # noqa: F401 - so that every Problem is loaded
from tenants.errors import Problem
from ttsproject import problems  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "locale/zh_Hans/LC_MESSAGES/django.po"
PACKAGES = ("synth", "tenants", "ttsproject")
# The admin's own words; its pages say in English what has no translation yet.
NOT_FOR_CALLERS = ("admin/", "models/", "migrations/", "launch/", "management/")
PYTHON = [("**.py", "python")]
MARKS = ("_", "gettext", "gettext_lazy", "untranslated")


@pytest.fixture(scope="module")
def catalogue() -> Catalog:
    with CATALOGUE.open("rb") as file:
        return read_po(file, locale="zh_Hans")


@pytest.fixture(scope="module")
def translations(catalogue: Catalog) -> dict[str, str]:
    return {str(message.id): str(message.string) for message in catalogue if message.id and not message.fuzzy}


def problem_kinds(kind: type[Problem] = Problem) -> Iterator[type[Problem]]:
    yield kind
    for heir in kind.__subclasses__():
        yield from problem_kinds(heir)


def marked_texts() -> set[str]:
    marks = dict.fromkeys(MARKS)
    found = [text for package in PACKAGES for text in extract_from_dir(ROOT / package, PYTHON, keywords=marks)]
    return {str(message) for file, _, message, _, _ in found if not file.startswith(NOT_FOR_CALLERS)}


def compiled(file: BinaryIO) -> dict[object, str]:
    return {text: said for text, said in gettext.GNUTranslations(file)._catalog.items() if text}  # type: ignore[attr-defined]


def test_the_compiled_catalogue_is_what_is_written(catalogue: Catalog) -> None:
    written = io.BytesIO()
    write_mo(written, catalogue)
    written.seek(0)
    with CATALOGUE.with_suffix(".mo").open("rb") as file:
        assert compiled(file) == compiled(written)


def test_every_marked_text_is_translated(translations: dict[str, str]) -> None:
    marked = marked_texts()
    assert len(marked) > 50
    assert sorted(text for text in marked if not translations.get(text)) == []


@pytest.mark.parametrize("kind", sorted(set(problem_kinds()), key=repr))
def test_every_problem_has_a_title_and_a_detail_in_chinese(kind: type[Problem], translations: dict[str, str]) -> None:
    assert translations.get(kind.title)
    assert translations.get(kind.detail)


def test_every_problem_has_a_code_of_its_own_or_its_parents_status() -> None:
    first: dict[str, type[Problem]] = {}
    for kind in problem_kinds():
        assert first.setdefault(kind.code, kind).status == kind.status, kind


def test_a_translation_has_the_places_of_its_text(catalogue: Catalog) -> None:
    assert [str(error) for message in catalogue for error in message.check(catalogue)] == []
