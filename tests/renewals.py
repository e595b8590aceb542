"""What is served old is made anew by a thread behind the answer: waits until it has done what it was asked for."""

from synth.service import speaking


def renewals_done() -> None:
    """The thread does one after the other: once this one is done, those before it are."""
    thread = speaking._renewals._thread
    if thread._threads:
        thread.submit(lambda: None).result(60)
