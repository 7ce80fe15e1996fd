"""A variational auto-encoder (Kingma and Welling 2014) of points of [0, 1]^n, given what is known of each.

The encoder makes a Gaussian of few dimensions of a point and what is given; the decoder makes of that, and what is given, the
middle of each number and the shares of each one-hot group. It is learned by the bound of its likelihood: numbers are Gaussian
around their middle with one spread for all, groups are categorical.
"""

from __future__ import annotations

from collections.abc import Callable

from likely.bench.encoding import Encoding
from likely.bench.tensors import Tensor, multilayer, nn, torch

BATCH, RATE, DECAY = 64, 1e-3, 1e-4
#: The deviation of numbers around their middle, as a share of their range.
SPREAD = 0.1
#: Steps of the gradient, at most: a table of 100,000 rows needs fewer rounds than one of 1,000.
STEPS = 6_000


class AutoEncoder(nn.Module):
    """Points to a Gaussian of few dimensions, and back.

    Args:
        encoding: It knows which columns are numbers, and which are one-hot groups.
        given: How many numbers are given beside each point.
        hidden: The width of the hidden layer, as that of the classifier.
        latent: How many dimensions the Gaussian has.
    """

    def __init__(self, encoding: Encoding, given: int, hidden: int = 20, latent: int = 10) -> None:
        super().__init__()
        self.encoding, self.latent = encoding, latent
        self.encoder = multilayer(encoding.width + given, hidden, 2 * latent)
        self.decoder = multilayer(latent + given, hidden, encoding.width)

    def encode(self, points: Tensor, given: Tensor) -> tuple[Tensor, Tensor]:
        """The means and the log-variances of the Gaussians.

        Args:
            points: Row x column.
            given: What is given beside each.
        """
        mean, log_variance = self.encoder(torch.cat([points, given], dim=1)).chunk(2, dim=1)
        return mean, log_variance.clamp(-10.0, 10.0)

    def drawn(self, points: Tensor, given: Tensor) -> Tensor:
        """A draw of the Gaussian of each point.

        Args:
            points: Row x column.
            given: What is given beside each.
        """
        mean, log_variance = self.encode(points, given)
        return mean + (log_variance / 2).exp() * torch.randn_like(mean)

    def decode(self, latent: Tensor, given: Tensor) -> Tensor:
        """The points in the middle: numbers between 0 and 1, groups that add up to 1.

        Args:
            latent: Row x dimension.
            given: What is given beside each.
        """
        raw = self.decoder(torch.cat([latent, given], dim=1))
        parts: list[Tensor] = []
        for part in self.encoding.parts:
            if part.number is not None:
                parts.append(torch.sigmoid(raw[:, part.number : part.number + 1]))
            if part.atoms:
                parts.append(torch.softmax(raw[:, part.group], dim=1))
        return torch.cat(parts, dim=1)

    def misfit(self, points: Tensor, made: Tensor) -> Tensor:
        """How badly what was made fits each point: its negative log-likelihood, without constants.

        Args:
            points: Row x column.
            made: What `decode` gave.
        """
        places = torch.as_tensor(self.encoding.numbers)
        total = ((points[:, places] - made[:, places]) ** 2).sum(dim=1) / (2 * SPREAD**2)
        for group in self.encoding.groups:
            total = total - (points[:, group] * torch.log(made[:, group] + 1e-8)).sum(dim=1)
        return total

    def learn(self, points: Tensor, given: Tensor, rounds: int, also: Callable[[Tensor, Tensor], Tensor] | None = None) -> None:
        """Learn from points by the bound of the likelihood.

        Args:
            points: Row x column.
            given: What is given beside each.
            rounds: How often to go over all points.
            also: What else is to be small: it gets the places of some points and what was made of them.
        """
        optimiser = torch.optim.Adam(self.parameters(), lr=RATE, weight_decay=DECAY)
        for _ in range(max(1, min(rounds, STEPS * BATCH // len(points)))):
            for part in torch.split(torch.randperm(len(points)), BATCH):
                mean, log_variance = self.encode(points[part], given[part])
                made = self.decode(mean + (log_variance / 2).exp() * torch.randn_like(mean), given[part])
                divergence = (mean**2 + log_variance.exp() - log_variance - 1).sum(dim=1) / 2
                loss = (self.misfit(points[part], made) + divergence).mean()
                if also is not None:
                    loss = loss + also(part, made)
                optimiser.zero_grad()
                torch.autograd.backward(loss)
                optimiser.step()
        self.requires_grad_(False)
