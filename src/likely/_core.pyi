from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Forest: TypeAlias = tuple[
    NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], float
]

class Columns:
    def __init__(
        self,
        feature: NDArray[np.int32],
        discrete: NDArray[np.bool_],
        slope: NDArray[np.float64],
        center: NDArray[np.float64],
        intercept: NDArray[np.float64],
        start: NDArray[np.int64],
        tables: NDArray[np.float64],
    ) -> None: ...
    def expand(self, rows: NDArray[np.float64], threads: int = 0) -> NDArray[np.float64]: ...

class Trees:
    def __init__(
        self,
        nodes: NDArray[np.uint8],
        roots: NDArray[np.int32],
        output_of: NDArray[np.int32],
        values: NDArray[np.float64],
        outputs: int,
    ) -> None: ...
    def score(self, rows: NDArray[np.float64], base: NDArray[np.float64], threads: int = 0) -> NDArray[np.float64]: ...

class Circuit:
    def __init__(
        self,
        kind: NDArray[np.int32],
        start: NDArray[np.int64],
        child: NDArray[np.int32],
        weight: NDArray[np.float64],
        floor: float,
    ) -> None: ...
    def add_variable(
        self,
        breaks: NDArray[np.float64],
        leaves: NDArray[np.int32],
        steps: NDArray[np.float64],
        family: NDArray[np.int32],
        parameters: NDArray[np.float64],
    ) -> None: ...
    def add_block(
        self,
        node: int,
        variables: NDArray[np.int32],
        first: NDArray[np.int64],
        knots: NDArray[np.float64],
        values: NDArray[np.float64],
        ends: NDArray[np.float64],
        mean: NDArray[np.float64],
        factor: NDArray[np.float64],
    ) -> None: ...
    def evaluate(self, rows: NDArray[np.float64], algebra: int = 0, threads: int = 0) -> NDArray[np.float64]: ...
    def expect(
        self, rows: NDArray[np.float64], weights: NDArray[np.float64], threads: int = 0
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
    def sweep(self, leaf_logs: NDArray[np.float64], algebra: int = 0) -> NDArray[np.float64]: ...
    def differentiate(self, values: NDArray[np.float64]) -> NDArray[np.float64]: ...

def expect_mixture(
    bins: NDArray[np.uint16],
    row_weight: NDArray[np.float64],
    offset: NDArray[np.int64],
    ratio: NDArray[np.float32],
    weight: NDArray[np.float32],
    blocks: int,
    threads: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def gaussian_logs(
    z: NDArray[np.float64],
    root: NDArray[np.float64],
    shift: NDArray[np.float64],
    constant: NDArray[np.float64],
    threads: int = 0,
) -> NDArray[np.float64]: ...
def gaussian_sums(z: NDArray[np.float64], share: NDArray[np.float64], threads: int = 0) -> NDArray[np.float64]: ...

class Share:
    def __init__(self, output: int, scale: float, low: float, high: float) -> None: ...

class SearchProblem:
    nodes_before_trees: int
    nodes_before_prices: int
    nodes_before_unit_prices: int
    nodes_before_ranges: int
    nodes_before_rounds: int
    def __init__(self) -> None: ...
    def add_feature(
        self,
        atom: NDArray[np.float64],
        atom_cost: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        segments: NDArray[np.float64],
        segment: NDArray[np.int32],
        grid: float,
        factual: float,
        anchor: float,
    ) -> None: ...
    def set_network(
        self,
        first: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
        sizes: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
        inputs: tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]],
        terms: int,
        bias: NDArray[np.float64],
        later: list[tuple[NDArray[np.float64], NDArray[np.float64]]],
    ) -> None: ...
    def set_forest(
        self,
        nodes: NDArray[np.uint8],
        roots: NDArray[np.int32],
        output_of: NDArray[np.int32],
        values: NDArray[np.float64],
        base: NDArray[np.float64],
        divisor: float,
    ) -> tuple[list[float], list[float]]: ...
    def set_composite(
        self,
        inputs: list[tuple[int, list[float], float, float, float, list[tuple[int, float, float, list[float], list[float]]]]],
        forests: list[_Forest],
        linear_forests: list[tuple[_Forest, list[int], list[int], list[float]]],
        functions: list[tuple[int, float, float, list[float], list[float]]],
        units: list[tuple[int, int, int, list[int], list[float], list[float], float, float, float]],
        outputs: list[int],
    ) -> int: ...
    def add_alternative(self, coefficients: NDArray[np.float64], lower: NDArray[np.float64], share: Share | None) -> None: ...
    def set_circuit(
        self,
        circuit: Circuit,
        targets: NDArray[np.float64],
        given: NDArray[np.float64],
        approximate: bool,
        threshold: float,
        weight: float,
    ) -> None: ...
    def set_coherence(self, circuit: Circuit, targets: NDArray[np.float64], threshold: float) -> None: ...
    def add_clause(self, literals: list[tuple[int, list[tuple[float, float]]]]) -> None: ...
    def add_at_most(self, literals: list[tuple[int, list[tuple[float, float]]]], count: int) -> None: ...
    def add_linear(self, features: list[int], coefficients: list[float], upper: float) -> None: ...
    def cut_at(self, feature: int, breakpoints: NDArray[np.float64]) -> bool: ...
    def contains(self, row: list[float]) -> bool: ...
    def propagated(
        self, atoms: list[list[int]], ranges: NDArray[np.float64], alternative: int, incumbent: float
    ) -> tuple[bool, float, list[tuple[list[int], float, float]]]: ...
    def solve(
        self,
        seconds: float,
        nodes: int,
        absolute_gap: float,
        relative_gap: float,
        solutions: int,
        other_features: bool,
        pool_gap: float,
        open_nodes: int,
        threads: int,
        starts: NDArray[np.float64],
        callback: Callable[[float, int, float, float], bool] | None,
        follow: list[float] | None,
        certificate: int,
    ) -> dict[str, Any]: ...
