"""The question network: a graph of questions about the future, and all that can be done with one."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from rgvf.atomic import write_atomically
from rgvf.questions.describe import describe
from rgvf.questions.files import graph_fields, graph_json, read_text
from rgvf.questions.graph import QuestionGraph
from rgvf.questions.targets import EdgeTable, edge_table


class QuestionNetwork(QuestionGraph):
    """Questions about the future: feature nodes, prediction nodes, and the weighted edges between them.

    Prediction node i asks for y_i(t) = E[Σ_j W_ij · y_j(t+1) + Σ_k W_ik · f_k(t+1) | A_t = a_i]; the condition on the
    action is optional, and the policy acts otherwise; it is the action's name, or its number in `actions`. A network is
    immutable and checked when it is made.

    >>> QuestionNetwork(
    ...     features=["reward"],
    ...     predictions={"value": None, "if left": "left"},
    ...     edges=[("value", "reward"), ("value", "value", 0.9), ("if left", "value")],
    ...     actions=["left", "right"],
    ... )
    QuestionNetwork(1 feature, 2 predictions, 3 edges, 2 actions)
    """

    @cached_property
    def table(self) -> EdgeTable:
        """The edges as arrays to gather by: what `rgvf.questions.targets` and `mask` take."""
        return edge_table(self)

    def without_actions(self) -> QuestionNetwork:
        """The same structure without conditions: the paper's no-actions ablation."""
        return QuestionNetwork(self.features, self.predictions, self.edges, self.actions)

    def describe(self, node: str | int | None = None) -> str:
        """A question in words: what is summed, after which actions, under which policy, with which discount.

        Without a node, one line for each node.
        """
        return describe(self, node)

    def draw(self, path: str | Path) -> Path:
        """Draw the network in layers, like the paper's figures, as SVG or PNG (by the path's suffix)."""
        from rgvf.questions.draw import draw  # Matplotlib is slow to import

        return draw(self, path)

    def _repr_svg_(self) -> str:
        """The drawing that a notebook shows."""
        from rgvf.questions.draw import render  # Matplotlib is slow to import

        return render(self, "svg").decode()

    def to_json(self) -> str:
        """The network as JSON, one node a line; numbers survive exactly."""
        return graph_json(self)

    @classmethod
    def from_json(cls, text: str) -> QuestionNetwork:
        """The network that `to_json` wrote; ValueError where the text is anything else."""
        return cls(**graph_fields(text))

    def save(self, path: str | Path) -> Path:
        """Write the network as a JSON file, complete or not at all."""
        return write_atomically(Path(path), self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> QuestionNetwork:
        """Read a network from a JSON file; ValueError with the path where the file is not one."""
        try:
            return cls.from_json(read_text(Path(path)))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
