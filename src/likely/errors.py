"""Every exception and warning of `likely`, in one tree.

    LikelyError
    ├── SchemaError (ValueError)          a feature, rule or cost that cannot be, or data that does not fit them
    │   └── ContradictionError            rules that exclude every row
    ├── PredictorError (ValueError)       a model that does not fit the schema
    │   └── UnsupportedModelError (TypeError)   a model, layer or transformer without a reader
    ├── CircuitError (ValueError)         a circuit that is not one, or data it cannot be learned from
    ├── ProblemError (ValueError)         a question to an engine that makes no sense
    ├── CertificateError (ValueError)     a certificate that is none, or is of another question
    │   └── UnknownBoundError             one that rests on a bound that cannot be derived again
    ├── EngineError (RuntimeError)        an engine that did what it must never do, seen by a debug mode
    ├── ExplainerError (ValueError)       an answer that is not there, or a file that is none
    │   └── NotFittedError (AttributeError)     an explainer that is not fitted, or not with what it has now
    ├── DatasetError (ValueError)         a data set that is not there, or a file that is not it
    ├── RequestError (ValueError)         a request to the service that is not as its description says
    └── MissingExtraError (ImportError)   an optional package that is not installed

    LikelyWarning (UserWarning)           something was done for you that you should know of

Every message follows one grammar: *thing* must *rule*; got *value*. Hint: *what to do*.
"""

from __future__ import annotations


class LikelyError(Exception):
    """Base of every error that `likely` raises on purpose.

    Args:
        thing: What is wrong, as the subject of a sentence.
        rule: What must hold of it.
        got: What it is instead.
        hint: What to do.
        feature: The feature at fault, where there is one.
    """

    def __init__(self, thing: str, rule: str, got: object, hint: str, *, feature: object = None) -> None:
        super().__init__(f"{thing} must {rule}; got {got}. Hint: {hint}.")
        #: The feature at fault, where there is one.
        self.feature = feature


class SchemaError(LikelyError, ValueError):
    """A feature, rule or cost that cannot be, or data that does not fit the schema."""


class ContradictionError(SchemaError):
    """Rules that together exclude every row."""


class PredictorError(LikelyError, ValueError):
    """A model that does not fit the schema, or does not compute what its reader thinks."""


class UnsupportedModelError(PredictorError, TypeError):
    """A model, layer or transformer that no reader knows."""


class CircuitError(LikelyError, ValueError):
    """A circuit that is not one, or data that it cannot be learned from or asked about."""


class ProblemError(LikelyError, ValueError):
    """A question to an engine that makes no sense."""


class CertificateError(LikelyError, ValueError):
    """A certificate that is none, or is of another question."""


class UnknownBoundError(CertificateError):
    """A certificate that rests on a bound that the checker cannot derive."""


class EngineError(LikelyError, RuntimeError):
    """An engine that did what it must never do: a bug, seen by a debug mode."""


class ExplainerError(LikelyError, ValueError):
    """An explainer or an answer that is not there, or a file that holds neither."""


class NotFittedError(ExplainerError, AttributeError):
    """An explainer that is not fitted, or was fitted before its parameters changed."""


class DatasetError(LikelyError, ValueError):
    """A data set that is not there, or a file that is not the data set."""


class RequestError(LikelyError, ValueError):
    """A request to the service that is not as its description says."""


class MissingExtraError(LikelyError, ImportError):
    """An optional package is needed and not installed.

    Args:
        package: The package that is missing.
        extra: The extra of `likely` that brings it.
        purpose: What it is needed for, after "be installed to".
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"Package {package!r}", f"be installed to {purpose}", "no such package", f"pip install 'likely[{extra}]'"
        )
        self.package = package
        self.extra = extra


class LikelyWarning(UserWarning):
    """Something was done for you that you should know of."""
