"""The conventions of scikit-learn's estimators, without scikit-learn: parameters by name, clones that keep the model."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Self

from likely.errors import LikelyError


class Params:
    """`get_params`, `set_params` and clones, from the signature of the constructor."""

    #: What `set_params` raises.
    _refusal: ClassVar[type[LikelyError]] = LikelyError

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(name for name in inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, as they were given.

        Args:
            deep: As scikit-learn passes it; there is nothing deeper.
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """This object with other arguments.

        Args:
            params: Arguments of the constructor by name; those that `fit` depends on ask for a new `fit`.
        """
        for name, value in params.items():
            if name not in self._names():
                known = ", ".join(self._names())
                raise self._refusal(
                    f"A parameter of {type(self).__name__}", f"be one of {known}", repr(name), "check the spelling"
                )
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        """A new one that is not fitted, with the same arguments: the clone of a fitted model would have forgotten its fit."""
        return type(self)(**self.get_params(deep=False))

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = {name: value for name, value in self.get_params().items() if value is not defaults[name].default}
        return f"{type(self).__name__}({', '.join(f'{name}={_brief(value)}' for name, value in given.items())})"


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"<{type(value).__name__}>"
