"""Loops in a graph of questions: which nodes depend on each other, and whether a loop amplifies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Eigenvalues of a dense matrix cost the cube of its size: about a second at this one. All loops together may cost that.
MAX_COMPONENT = 500


def strongly_connected(successors: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Strongly connected parts of a directed graph, each after the parts it leads to (Tarjan 1972, iterative)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    parts: list[tuple[int, ...]] = []
    for root in range(len(successors)):
        if root in order:
            continue
        work = [(root, iter(successors[root]))]
        order[root] = low[root] = len(order)
        path.append(root)
        on_path.add(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is not None:
                if following not in order:
                    order[following] = low[following] = len(order)
                    path.append(following)
                    on_path.add(following)
                    work.append((following, iter(successors[following])))
                elif following in on_path:
                    low[node] = min(low[node], order[following])
                continue
            work.pop()
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[node])
            if low[node] == order[node]:
                part = [path.pop()]
                while part[-1] != node:
                    part.append(path.pop())
                on_path.difference_update(part)
                parts.append(tuple(sorted(part)))
    return tuple(parts)


def check_loops(parts: Sequence[Sequence[int]]) -> None:
    """ValueError where it would take long to find out whether the loops amplify."""
    sizes = [len(part) for part in parts if len(part) > 1]
    if max(sizes, default=0) > MAX_COMPONENT:
        raise ValueError(
            f"{max(sizes)} prediction nodes depend on each other in one loop; at most {MAX_COMPONENT} can be checked"
        )
    if sum(size**3 for size in sizes) > MAX_COMPONENT**3:
        raise ValueError(f"{sum(sizes):,} prediction nodes are part of {len(sizes):,} loops, too large to be checked")


def component_radius(part: Sequence[int], edges: Sequence[tuple[int, int, float]]) -> float:
    """Spectral radius of |W| within one strongly connected part, given the edges (from, to, weight) inside it."""
    if not edges:
        return 0.0
    if len(part) == 1:
        return abs(edges[0][2])
    row = {node: i for i, node in enumerate(part)}
    matrix = np.zeros((len(part), len(part)))
    for source, target, weight in edges:
        matrix[row[source], row[target]] = abs(weight)
    return float(np.abs(np.linalg.eigvals(matrix)).max())
