"""Question networks as JSON files. Reading one never runs code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from rgvf.questions.graph import QuestionGraph

FORMAT = "rgvf question network"
VERSION = 1
# About a hundred times the largest network of the paper (18 actions, depth 16, repeat 32).
MAX_FILE_BYTES = 64 * 2**20


def graph_json(network: QuestionGraph) -> str:
    """One node a line; numbers survive exactly."""
    names = network.predictions + network.features
    nodes = [
        {
            "name": name,
            "action": None if action is None else network.actions[action],
            "edges": [(names[target], weight) for target, weight in edges],
        }
        for name, action, edges in zip(network.predictions, network.conditions, network.outgoing, strict=True)
    ]
    lines = ",\n    ".join(json.dumps(node, ensure_ascii=False) for node in nodes)
    head = {"format": FORMAT, "version": VERSION, "features": network.features, "actions": network.actions}
    fields = "".join(f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)},\n" for k, v in head.items())
    return f'{{\n{fields}  "predictions": [\n    {lines}\n  ]\n}}\n'


def graph_fields(text: str) -> dict[str, Any]:
    """What a graph is made from, as `graph_json` wrote it; ValueError where the text is anything else."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object_without_repeats)
    except RecursionError:
        raise ValueError("not a question network: the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON, perhaps cut short: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f'not a question network: the field "format" should be "{FORMAT}"')
    if type(data.get("version")) is not int or data["version"] < 1:
        raise ValueError(f"not a question network: version {data.get('version')!r}")
    if data["version"] > VERSION:
        raise ValueError(f"format version {data['version']} is newer than this program, which reads up to {VERSION}")
    _fields("the file", data, {"format": str, "version": int, "features": list, "actions": list, "predictions": list})
    predictions: dict[str, str | int | None] = {}
    edges: list[tuple[str, str, float]] = []
    for i, node in enumerate(data["predictions"]):
        where = f"prediction {i}"
        _fields(where, node, {"name": str, "action": (str, int, type(None)), "edges": list})
        if node["name"] in predictions:
            raise ValueError(f"prediction node {node['name']!r} is named twice")
        predictions[node["name"]] = node["action"]
        for edge in node["edges"]:
            if not isinstance(edge, list) or len(edge) != 2 or not isinstance(edge[0], str):
                raise ValueError(f"{where}: an edge must be [node, weight], not {str(edge)[:80]}")
            edges.append((node["name"], edge[0], edge[1]))
    return {"features": data["features"], "predictions": predictions, "edges": edges, "actions": data["actions"]}


def read_text(path: Path) -> str:
    """The text of a file that may be a question network; ValueError where it cannot be one."""
    if path.exists() and not path.is_file():
        raise ValueError("not a regular file, so not a question network")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"larger than {MAX_FILE_BYTES // 2**20} MiB, so not a question network")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError("not a text file, so not a question network") from None


def _fields(where: str, data: Any, expected: dict[str, type | tuple[type, ...]]) -> None:
    if not isinstance(data, dict):
        raise ValueError(f"{where}: must be an object with the fields {', '.join(expected)}")
    for name, kind in expected.items():
        if name not in data:
            raise ValueError(f"{where}: the field {name!r} is missing")
        if not isinstance(data[name], kind):
            raise ValueError(f"{where}: the field {name!r} has the wrong type ({type(data[name]).__name__})")
    for name in data:
        if name not in expected:
            raise ValueError(f"{where}: unknown field {name!r}")


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a finite number")


def _object_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("an object has the same field twice")
    return result
