"""Certificates: the proof of a search as a file, and its check by somebody else, without the engine that found it."""

from likely.certificate.bounds import TOLERANCE
from likely.certificate.files import MOST_BYTES, Certificate, fingerprint, load, save
from likely.certificate.replay import Replay

__all__ = ["MOST_BYTES", "TOLERANCE", "Certificate", "Replay", "fingerprint", "load", "save"]
