"""What methods that follow the gradient of the model have in common: its scores of points, and by how much they decide."""

from __future__ import annotations

from dataclasses import dataclass

from likely.bench.methods.rival import Known, Question
from likely.bench.tensors import Tensor, network, nn, tensor, torch
from likely.problem import to_class


@dataclass(frozen=True, eq=False)
class Differentiable:
    """The model as a module over points."""

    module: nn.Module
    #: Per class: what its rows fulfil, as coefficients, output x inequality, and the least value of each.
    goals: tuple[tuple[Tensor, Tensor], ...]

    @classmethod
    def of(cls, known: Known) -> Differentiable:
        """The model that a method was fitted for; refuses one that has no gradient.

        Args:
            known: What the method has.
        """
        form = known.form
        alternatives = [to_class(form, label).alternatives[0] for label in form.classes]
        goals = tuple((tensor(each.coefficients).T, tensor(each.lower)) for each in alternatives)
        return cls(network(known.encoding.layers(form)), goals)

    def margins(self, points: Tensor, target: int) -> Tensor:
        """By how much each point is within a class, in units of the score; negative if it is not.

        Args:
            points: Row x column.
            target: The place of the class.
        """
        coefficients, lower = self.goals[target]
        least: Tensor = (self.module(points) @ coefficients - lower).min(dim=1).values
        return least


def within(points: Tensor, question: Question) -> Tensor:
    """Points moved into the box of a question.

    Args:
        points: Row x column.
        question: What is asked.
    """
    low, high = (tensor(end) for end in question.box)
    return torch.clamp(points, low, high)
