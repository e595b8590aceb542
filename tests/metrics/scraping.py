"""Reads `/metrics` as Prometheus does."""

from collections.abc import Mapping

from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from ttsproject import health

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parse(text: str) -> Samples:
    """Each sample by name and labels; a name or a sample that stands there twice is an error."""
    samples: Samples = {}
    names: set[str] = set()
    for family in text_string_to_metric_families(text):
        assert family.name not in names, family.name
        names.add(family.name)
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in samples, key
            samples[key] = sample.value
    return samples


def scrape() -> Samples:
    """With fresh answers of the database and Redis."""
    health._census.cache_clear()
    answer = Client().get("/metrics")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    return parse(answer.content.decode())


def value(samples: Samples, name: str, **labels: str) -> float:
    """0 for what was never counted, as for Prometheus' `or vector(0)`."""
    return samples.get((name, frozenset(labels.items())), 0.0)


def labels_of(samples: Samples, name: str) -> list[Mapping[str, str]]:
    return [dict(labels) for told, labels in samples if told == name]
