"""TLS: the name of the URL is what the receiver is asked for and must prove, whatever address it was found at."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from synth.webhooks.addresses import Policy
from synth.webhooks.http import Answer, NotSent, Sender
from tests.servers.receiver import Receiver

NAME = "hooks.example.com"
WAIT = 60


@dataclass(frozen=True)
class Secured:
    """A receiver with a certificate for NAME, the names it was asked for, and the certificate to trust."""

    receiver: Receiver
    asked: list[str | None]
    certificate: Path


def certificate(folder: Path, name: str) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "receiver.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + built.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    path = certificate(tmp_path_factory.mktemp("tls"), NAME)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    asked: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    with Receiver(tls=context) as receiver:
        yield Secured(receiver, asked, path)


def send(secured: Secured, host: str, *, trusted: bool = True) -> Answer:
    policy = Policy(True, frozenset({secured.receiver.port}), (ip_network("127.0.0.0/8"),))
    tls = ssl.create_default_context(cafile=secured.certificate) if trusted else None
    with Sender(policy, 30.0, look_up=lambda *_: [ip_address("127.0.0.1")], tls=tls) as sender:
        return sender.start(f"https://{host}:{secured.receiver.port}/in", {}, b"{}").result(WAIT)


def refused(secured: Secured, host: str, *, trusted: bool = True) -> NotSent:
    with pytest.raises(NotSent) as failure:
        send(secured, host, trusted=trusted)
    return failure.value


def test_the_name_is_in_the_handshake_and_in_the_host_header(secured):
    assert send(secured, NAME).status == 200
    assert secured.asked[-1] == NAME
    assert secured.receiver.visits[-1].headers["host"] == f"{NAME}:{secured.receiver.port}"


def test_a_certificate_for_another_name_is_refused(secured):
    before = len(secured.receiver.visits)
    failure = refused(secured, "other.example.com")
    assert failure.code == "tls_failed"
    assert "other.example.com" in failure.detail
    assert len(secured.receiver.visits) == before


def test_the_address_in_place_of_the_name_is_refused(secured):
    assert refused(secured, "127.0.0.1").code == "tls_failed"


def test_a_certificate_that_nobody_vouches_for_is_refused(secured):
    failure = refused(secured, NAME, trusted=False)
    assert failure.code == "tls_failed"
    assert "certificate" in failure.detail


@contextmanager
def speechless(greeting: bytes) -> Iterator[tuple[int, threading.Event]]:
    """Greets without TLS and then only listens; the event says that the other side has closed."""
    closed = threading.Event()

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.settimeout(WAIT)
            connection.sendall(greeting)
            while connection.recv(4096):
                pass
        closed.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1], closed


@pytest.mark.parametrize(
    ("greeting", "expected"), [(b"220 hello\r\n", "tls_failed"), (b"", "timed_out")], ids=["no TLS", "silence"]
)
def test_a_handshake_that_fails_or_hangs_frees_its_connection(secured, greeting, expected):
    tls = ssl.create_default_context(cafile=secured.certificate)
    with speechless(greeting) as (port, closed):
        policy = Policy(True, frozenset({port}), (ip_network("127.0.0.0/8"),))
        timeout = 1.0 if expected == "timed_out" else 30.0
        with Sender(policy, timeout, look_up=lambda *_: [ip_address("127.0.0.1")], tls=tls) as sender:
            with pytest.raises(NotSent) as failure:
                sender.start(f"https://{NAME}:{port}/", {}, b"").result(WAIT)
            assert closed.wait(WAIT)
    assert failure.value.code == expected
