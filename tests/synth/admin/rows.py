"""A catalogue and a queue as they look after some work, with real audio in the store: for the tests of the admin."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

import numpy as np
from django.utils import timezone

from synth import cards, codec, wiring
from synth.audio.encoding import encode_clip
from synth.audio.formats import get_format
from synth.keys import object_name
from synth.models import Entry, Job, Rendering, RenderingPart, Synthesis
from synth.models.states import State
from synth.types import Clip, EngineCard, Manner, Output, Pcm, Segment, Spec, SpeedRange, Voice
from tenants.models import Tenant
from tenants.types import TenantRef

CHINESE = "你好，世界。今天天气很好，我们去公园散步吧。"
ENGLISH = "Good morning. The train leaves at nine."
MANNER = Manner(
    engine="kokoro",
    model_version="kokoro-1",
    voice="zf_one",
    voice_fingerprint="f" * 64,
    language="zh",
    normaliser=1,
    splitter=1,
)


def key_of(*parts: object) -> str:
    return sha256("/".join(map(str, parts)).encode()).hexdigest()


def publish_card(name: str = "kokoro", *, model_version: str = "kokoro-1") -> None:
    voices = tuple(Voice(f"zf_{n}", name, "f" * 64, ("zh", "en"), label=f"Voice {n}") for n in ("one", "two"))
    cards.publish(
        EngineCard(
            name=name,
            model_version=model_version,
            sample_rate=24000,
            languages=("zh", "en", "ja"),
            scripts=("Hani", "Latn"),
            voices=voices,
            default_voices={"zh": "zf_one"},
            speed=SpeedRange(0.7, 1.5),
            controls=frozenset({"speed"}),
        )
    )


def tone(format: str = "mp3", *, hertz: float = 440.0) -> Clip:  # noqa: A002
    """A second of a tone, in any format."""
    samples = (0.3 * np.sin(2 * np.pi * hertz * np.arange(24000) / 24000)).astype(np.float32)
    chosen = get_format(format)
    bitrate = chosen.default_bitrate_for(24000)
    return encode_clip(Pcm(samples, 24000), format=format, sample_rate=24000, bitrate=bitrate)


def stored(tenant: TenantRef, clip: Clip) -> dict[str, object]:
    """Put the clip into the store; what rows say of it."""
    name = object_name(tenant, clip.digest, get_format(clip.format).extension)
    wiring.object_store().put(name, clip.data, clip.media_type)
    return {
        "digest": clip.digest,
        "format": clip.format,
        "media_type": clip.media_type,
        "size": len(clip.data),
        "duration": clip.duration,
        "sample_rate": clip.sample_rate,
    }


def make_entry(tenant: Tenant, text: str, *, format: str = "mp3", **changes: object) -> Entry:  # noqa: A002
    values = {
        "kind": Entry.Kind.RENDITION,
        "key": key_of("entry", tenant.id, text, format),
        "engine": MANNER.engine,
        "model_version": MANNER.model_version,
        "voice": MANNER.voice,
        "made_at": timezone.now(),
        **stored(tenant.ref, tone(format)),
        **changes,
    }
    return Entry.objects.create(tenant=tenant, text=text, **values)


@dataclass(frozen=True)
class Work:
    job: Job
    rendering: Rendering
    syntheses: list[Synthesis]


def make_work(tenant: Tenant, text: str, *, state: State = State.SUCCEEDED, **job: object) -> Work:
    """A job on a rendering of two sentences: one had to be spoken, the other was stored already."""
    spoken, known = text[: len(text) // 2], text[len(text) // 2 :]
    ended = {} if state in {State.QUEUED, State.RUNNING, State.WAITING} else {"ended_at": timezone.now()}
    output = Output(format="mp3", sample_rate=24000, bitrate=64, loudness=-16.0, pause_ms=250)
    spec = codec.to_json(Spec(MANNER, text, output))
    flight = key_of("work", tenant.id, text, Job.objects.count())
    audio = stored(tenant.ref, tone()) if state == State.SUCCEEDED else {}
    error = {"error_code": "engine_error"} if state == State.FAILED else {}
    rendering = Rendering.objects.create(
        tenant=tenant, key=flight, flight=flight, spec=spec, state=state, **ended, **audio, **error
    )
    synthesis = Synthesis.objects.create(
        tenant=tenant,
        engine=MANNER.engine,
        model_version=MANNER.model_version,
        key=key_of(flight, "spoken"),
        flight=key_of(flight, "spoken"),
        segment=codec.to_json(Segment(MANNER, spoken)),
        state=state,
        worker="engine-1@host",
        attempt=1,
        engine_seconds=0.42,
        **ended,
        **error,
    )
    RenderingPart.objects.create(rendering=rendering, position=0, key=synthesis.key, synthesis=synthesis)
    entry = make_entry(tenant, known, format="flac", kind=Entry.Kind.SEGMENT, key=key_of(flight, "known"))
    RenderingPart.objects.create(rendering=rendering, position=1, key=entry.key, digest=entry.digest)
    row = Job.objects.create(
        tenant=tenant, rendering=rendering, state=state, cache="use", engine=MANNER.engine, voice=MANNER.voice,
        language="zh", characters=len(text), **ended, **error, **job,
    )  # fmt: skip
    Job.objects.filter(id=row.id).update(created_at=(row.ended_at or timezone.now()) - timedelta(seconds=5))
    return Work(row, rendering, [synthesis])
