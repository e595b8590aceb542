"""An OpenAI-compatible speech server of the project's own, that speaks a tone and misbehaves on demand."""

from __future__ import annotations

import contextlib
import http.server
import io
import json
import socket
import socketserver
import struct
import threading
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import soundfile

RATE = 24_000
VOICES = ("tone_a", "tone_b")
MODEL = "tone-1"
UNKNOWN = 0xFFFFFFFF
Speaker = Callable[[dict[str, Any]], np.ndarray]
_WIDE_SECONDS, _NARROW_SECONDS = 0.25, 0.07
_CONTAINERS = {"wav": ("WAV", "PCM_16"), "flac": ("FLAC", "PCM_16"), "mp3": ("MP3", None), "opus": ("OGG", "OPUS")}
_TYPES = {"wav": "audio/wav", "pcm": "audio/pcm", "flac": "audio/flac", "mp3": "audio/mpeg", "opus": "audio/ogg"}


@dataclass
class Answer:
    """What the server sends. `body` None: the speech that was asked for. `delay` is before the headers, `pause` before
    each of the `pieces`. `promised`: a Content-Length, in place of chunks. `end` "drop" breaks off, "hang" waits.
    """

    status: int = 200
    body: bytes | None = None
    media_type: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    pieces: int = 1
    pause: float = 0.0
    promised: int | None = None
    end: str = ""


class SpeechServer:
    """Use it as a context manager. `answers` are given in turn, the last one for good; `asked` is what came."""

    def __init__(self, speaker: Speaker | None = None, *, port: int = 0) -> None:
        self.speaker = speaker or tone
        self.answers: list[Answer] = [Answer()]
        self.pages: dict[str, Answer] = {
            "/v1/audio/voices": _json({"voices": list(VOICES)}),
            "/v1/models": _json({"data": [{"id": MODEL, "root": "/models/tone", "created": 1}]}),
        }
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.stopping = threading.Event()
        self._server = _Threads(("127.0.0.1", port), _Handler)
        self._server.owner = self
        self.port: int = self._server.server_address[1]

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def options(self, **more: str) -> dict[str, str]:
        """What the engine takes, with patience for a busy machine and none between two tries."""
        return {"base_url": self.base, "model": MODEL, "languages": "zh,en", "start_wait": "0", **more}

    def page(self, path: str, content: Any) -> None:
        self.pages[path] = _json(content)

    def start(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.drop_connections()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def next_answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def tone(request: dict[str, Any]) -> np.ndarray:
    """About as long as speech of the text would be; the voice is its pitch, see `pitch`."""
    text, speed = request["input"], request.get("speed", 1.0)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    seconds = max(0.2, wide * _WIDE_SECONDS + (len(text) - wide) * _NARROW_SECONDS) / speed
    at = np.arange(round(seconds * RATE)) / RATE
    wave = np.sin(2 * np.pi * pitch(request["voice"]) * at)
    return (0.3 * (0.6 + 0.4 * np.sin(8 * np.pi * at)) * wave).astype(np.float32)


def pitch(voice: str) -> float:
    """Hz; no two of voice_0 to voice_9 are within 40."""
    return 300.0 + 40 * (sum(voice.encode()) % 12)


def encoded(samples: np.ndarray, form: str, *, rate: int = RATE, subtype: str | None = None) -> bytes:
    if form == "pcm":
        return (samples * 32767).astype("<i2").tobytes()
    container, usual = _CONTAINERS[form]
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=container, subtype=subtype or usual)
    return file.getvalue()


def streamed_wav(samples: np.ndarray, *, size: int = UNKNOWN, rate: int = RATE) -> bytes:
    """As servers write it that do not know the length yet."""
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", size, b"WAVE", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16)
    return head + struct.pack("<4sI", b"data", size) + encoded(samples, "pcm")


def _json(content: Any) -> Answer:
    return Answer(body=json.dumps(content).encode(), media_type="application/json")


class _Threads(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: SpeechServer

    def __init__(self, *args: Any) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def drop_connections(self) -> None:
        """Those that are kept open, too: a server that has ended answers nobody."""
        for request in tuple(self._open):
            with contextlib.suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is what some tests are about."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Threads

    def do_GET(self) -> None:
        self._send(self.server.owner.pages.get(self.path, Answer(status=404, body=b"")), b"")

    def do_POST(self) -> None:
        owner = self.server.owner
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        owner.asked.append({"path": self.path, **asked})
        owner.headers.append(dict(self.headers))
        form = asked["response_format"]
        answer = owner.next_answer()
        body = encoded(owner.speaker(asked), form) if answer.body is None else answer.body
        self._send(answer, body, media_type=_TYPES[form])

    def log_message(self, *_: object) -> None:
        """Nothing: tests read what came from `asked`."""

    def _send(self, answer: Answer, body: bytes, *, media_type: str = "") -> None:
        body = body or answer.body or b""
        self.close_connection = bool(answer.end)
        self._wait(answer.delay)
        try:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if media_type or answer.media_type:
                self.send_header("Content-Type", answer.media_type or media_type)
            if answer.promised is None:
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Content-Length", str(answer.promised))
            self.end_headers()
            self._send_body(answer, body)
        except OSError:
            return  # the client has had enough

    def _send_body(self, answer: Answer, body: bytes) -> None:
        for piece in _cut(body, answer.pieces):
            self._wait(answer.pause)
            self.wfile.write(piece if answer.promised is not None else b"%x\r\n%s\r\n" % (len(piece), piece))
        if answer.end == "hang":
            self._wait(3600)
        if answer.promised is None and not self.close_connection:
            self.wfile.write(b"0\r\n\r\n")

    def _wait(self, seconds: float) -> None:
        if seconds:
            self.server.owner.stopping.wait(seconds)


def _cut(body: bytes, pieces: int) -> Iterator[bytes]:
    size = max(1, -(-len(body) // pieces))
    return (body[start : start + size] for start in range(0, len(body), size))
