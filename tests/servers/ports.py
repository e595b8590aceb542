"""Free ports for the tests' servers."""

import socket


def free_port() -> int:
    """A port of 127.0.0.1 that nothing listens on now; the kernel does not give it out again soon."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    """Whether something on 127.0.0.1 accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
