"""Certificates as files: gzipped lines of JSON, a header and then the trees; see docs/certificates.md."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from likely._files import replacing
from likely.certificate.replay import Replay, malformed, replay
from likely.errors import CertificateError
from likely.problem import Problem

#: Of the format.
VERSION = 2
#: Bytes of text that are recorded of one search, at most.
MOST_BYTES = 2**28


@dataclass(frozen=True)
class Certificate:
    """The proof of one search."""

    #: The digest of the problem (`fingerprint`).
    problem: str
    #: No row that answers the problem has a lower objective.
    lower: float
    #: Whether recording ended at its limit: what came later is not in it.
    truncated: bool
    #: Trees and nodes, a line of JSON each.
    text: str

    def check(self, problem: Problem) -> Replay:
        """Derives the bound again, without the engine.

        Args:
            problem: What was asked.

        Raises:
            CertificateError: If it is of another problem, or rests on bounds that cannot be derived again.
        """
        if fingerprint(problem) != self.problem:
            raise CertificateError(
                "A certificate", "be of the problem that it is checked for", "another one", "check the question"
            )
        try:
            lines = [json.loads(line) for line in self.text.splitlines()]
        except ValueError as error:
            raise malformed("be lines of JSON", error) from None
        return replay(problem, self.lower, lines)


def fingerprint(problem: Problem) -> str:
    """The SHA-256 of all that a problem is made of.

    Args:
        problem: What was asked.
    """
    asked, fit = problem.plausibility, problem.coherence
    content = {
        "schema": problem.schema.to_dict(),
        "factual": problem.factual.tolist(),
        "form": problem.form.to_dict(),
        "goal": [
            [np.asarray(each.coefficients).tolist(), np.asarray(each.lower).tolist(), each.class_index, _share(each.share)]
            for each in problem.goal.alternatives
        ],
        "plausibility": None
        if asked is None
        else [asked.circuit.to_dict(), asked.lower, asked.weight, list(map(str, asked.given)), asked.approximate],
        "coherence": None if fit is None else [fit.circuit.to_dict(), fit.lower],
    }
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _share(share: Any) -> Any:
    return None if share is None else vars(share)


def save(path: str | Path, certificates: Sequence[Certificate]) -> None:
    """Write certificates to one file, all of it or nothing.

    Args:
        path: Of the file; `.jsonl.gz` says best what it is.
        certificates: One per search.
    """
    parts = []
    for each in certificates:
        header = {"certificate": VERSION, "problem": each.problem, "lower": each.lower, "truncated": each.truncated}
        parts += [json.dumps(header), *each.text.splitlines()]
    with replacing(path) as file:
        file.write(gzip.compress("\n".join(parts).encode(), mtime=0))


def load(path: str | Path) -> list[Certificate]:
    """The certificates in a file.

    Args:
        path: Of a file that `save` wrote.

    Raises:
        CertificateError: If it holds none.
    """
    try:
        text = gzip.decompress(Path(path).read_bytes()).decode()
        headers: list[dict[str, Any]] = []
        bodies: list[list[str]] = []
        for line in text.splitlines():
            if line.startswith('{"certificate"'):
                headers.append(json.loads(line))
                bodies.append([])
            else:
                bodies[-1].append(line)
        made = [
            Certificate(str(header["problem"]), float(header["lower"]), bool(header["truncated"]), "\n".join(body))
            for header, body in zip(headers, bodies, strict=True)
        ]
    except (OSError, EOFError, zlib.error, ValueError, KeyError, IndexError, TypeError) as error:
        raise malformed("be a file that certificate= wrote", f"{type(error).__name__}: {error}") from None
    if not made or any(
        header["certificate"] != VERSION or math.isnan(each.lower) for header, each in zip(headers, made, strict=True)
    ):
        raise malformed(f"be a file of version {VERSION}", path)
    return made
