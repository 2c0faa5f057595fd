"""Where the tasks of a plan stand in a picture: in layers by depth, ordered so that few lines cross.

The way is that of Sugiyama et al. (1981): a line that passes a layer gets a place of its own in it, and each layer is
sorted by where its neighbours stand. It knows no drawing: matplotlib and the widgets use the same places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise

SWEEPS = 8  # passes over the layers, alternately from the left and from the right

Place = tuple[float, float]
Point = tuple[str, str, int]  # (task, "", layer), or (from, to, layer) for a line that passes


@dataclass(frozen=True)
class Layout:
    """`places` are the tasks' (layer, height); heights are centred on 0, one apart at least. `lines` lead from a
    dependency to the task that needs it, over the places where they pass other layers."""

    places: dict[str, Place]
    lines: dict[tuple[str, str], tuple[Place, ...]]


def layered(dependencies: Mapping[str, Sequence[str]]) -> Layout:
    """Lay out tasks, given what each depends on. Raises graphlib.CycleError (a ValueError) for a cycle."""
    depths = _depths(dependencies)
    chains = {
        (before, after): [(before, "", depths[before]),
                          *((before, after, layer) for layer in range(depths[before] + 1, depths[after])),
                          (after, "", depths[after])]
        for after, needed in dependencies.items() for before in dict.fromkeys(needed)
    }  # fmt: skip
    layers: list[list[Point]] = [[] for _ in range(max(depths.values(), default=-1) + 1)]
    for name, depth in depths.items():
        layers[depth].append((name, "", depth))
    for chain in chains.values():
        for point in chain[1:-1]:
            layers[point[2]].append(point)
    heights = _heights(layers, chains.values())
    places = {name: (float(depth), heights[name, "", depth]) for name, depth in depths.items()}
    lines = {ends: tuple((float(p[2]), heights[p]) for p in chain) for ends, chain in chains.items()}
    return Layout(places, lines)


def _depths(dependencies: Mapping[str, Sequence[str]]) -> dict[str, int]:
    depths: dict[str, int] = {}
    for name in TopologicalSorter(dependencies).static_order():
        depths[name] = max((depths[each] + 1 for each in dependencies.get(name, ())), default=0)
    return {name: depths[name] for name in (*dependencies, *depths)}  # in the order in which they were given


def _heights(layers: list[list[Point]], chains: Iterable[list[Point]]) -> dict[Point, float]:
    """Sort each layer by the mean height of its neighbours in the layer before, back and forth."""
    left, right = defaultdict(list), defaultdict(list)
    for chain in chains:
        for before, after in pairwise(chain):
            right[before].append(after)
            left[after].append(before)
    heights = {point: at for layer in layers for point, at in zip(layer, _spread(len(layer)), strict=True)}
    for sweep in range(SWEEPS):
        forwards = sweep % 2 == 0
        neighbours = left if forwards else right
        for layer in layers if forwards else layers[::-1]:
            wanted = {point: _mean([heights[each] for each in neighbours[point]], heights[point]) for point in layer}
            layer.sort(key=wanted.__getitem__)
            heights.update(zip(layer, _apart([wanted[point] for point in layer]), strict=True))
    return heights


def _spread(count: int) -> list[float]:
    return [i - (count - 1) / 2 for i in range(count)]


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _apart(wanted: list[float]) -> list[float]:
    """Move sorted heights as little as needed so that they are one apart: groups that touch share their error."""
    groups: list[tuple[float, int]] = []  # where a group begins, and how many are in it
    for value in wanted:
        begin, count = value, 1
        while groups and groups[-1][0] + groups[-1][1] > begin:
            before, many = groups.pop()
            begin = (before * many + (begin - many) * count) / (many + count)
            count += many
        groups.append((begin, count))
    return [begin + i for begin, count in groups for i in range(count)]
