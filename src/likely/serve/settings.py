"""`Settings`: who may ask a service, how much at a time, and how often."""

from __future__ import annotations

from dataclasses import dataclass

from likely.errors import RequestError


@dataclass(frozen=True)
class Settings:
    """How a service is run.

    Args:
        token: What a request must bring as `Authorization: Bearer TOKEN`; None if none is needed.
        hosts: The names in the `Host` header by which the service may be called; None for any. For a service of this
            machine alone they keep pages of other sites away, which may give their own name to this machine's address.
        concurrency: How many questions are searched at a time.
        waiting: How many more may wait; the next one is answered with 503.
        rate: How many requests of one address per second are answered, over some time; None for any number.
        body_seconds: How long a request may take to arrive.
        log_rows: Whether rows and refusals, which name values, are logged. They may be personal data.
    """

    token: str | None = None
    hosts: tuple[str, ...] | None = None
    concurrency: int = 2
    waiting: int = 64
    rate: float | None = None
    body_seconds: float = 10.0
    log_rows: bool = False

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise RequestError("The number of questions at a time", "be at least 1", self.concurrency, "leave it out")
        if self.waiting < 0:
            raise RequestError("The number of questions that may wait", "be at least 0", self.waiting, "leave it out")
        if self.rate is not None and not self.rate > 0:
            raise RequestError("The rate of requests", "be greater than 0", self.rate, "leave it out for any rate")
        if self.token is not None and (len(self.token) < 16 or not self.token.isascii() or not self.token.isprintable()):
            rule, hint = (
                "be at least 16 printable letters of ASCII",
                "make one: python -c 'import secrets; print(secrets.token_hex())'",
            )
            raise RequestError("The token", rule, f"{len(self.token)} letters", hint)
