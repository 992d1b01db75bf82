"""The results as Markdown, and the table for the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments.resumable import installed_versions

_LEGEND = (
    "`ours` replays with numpy alone, `numba` with fused loops, `compiled` in tiles of points (the "
    "executor llvm), the residuals joined by hand; "
    "`objective` is pinn.Objective as training calls it (float64 theta, blocks joined by their "
    "points), `/ joined` its time over that of joining by hand. `products` are the matrix products "
    "between hidden layers alone, with a channel for the value and each derivative needed. Of each "
    "peer its best way counts."
)


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with few digits, "-" for none."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def times(value: float | None) -> str:
    """Return a factor."""
    return "-" if value is None else f"{value:.2f}x"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return an aligned Markdown table."""
    widths = [max(len(line[k]) for line in [header, *rows]) for k in range(len(header))]

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"

    return "\n".join([line(header), line(["-" * w for w in widths]), *map(line, rows)])


def section(title: str, lines: list[str]) -> list[str]:
    """Return a heading and a list, or nothing where there are no lines."""
    return [f"## {title}", "\n".join(f"- {line}" for line in lines)] if lines else []


def speed_table(results: dict[str, Any]) -> str:
    """Return the main table: milliseconds a step, ratios, and the floor."""
    header = [
        "row", "torch", "jax", "jax way", "ours", "numba", "compiled", "objective", "/ joined",
        "best peer / ours", "/ numba", "/ compiled", "products", "fastest / products",
    ]
    rows = []
    for row in results["rows"]:
        line = row["summary"]
        rows.append([
            row["name"], number(line["torch_ms"]), number(line["jax_ms"]), line["jax_way"] or "-",
            number(line["ours_ms"]), number(line["ours_numba_ms"]), number(line["ours_llvm_ms"]),
            number(line["objective_ms"]), times(line["objective_over_joined"]),
            times(line["speedup_numpy"]), times(line["speedup_numba"]),
            times(line["speedup_llvm"]), number(line["products_ms"]), times(line["over_products"]),
        ])
    return table(header, rows)


def all_ways_table(results: dict[str, Any]) -> str:
    """Return every engine in every way: median, quartiles, first call, agreement."""
    header = ["row", "engine", "way", "ms", "quartiles", "first call s", "gradient differs by"]
    rows = []
    for row in results["rows"]:
        for name, ways in row["engines"].items():
            for way, entry in ways.items():
                if "ms" not in entry:
                    why = f"{entry.get('kind', 'not run')}: {entry.get('error', '')}"
                    rows.append([row["name"], name, way, "-", why.replace("|", "/"), "-", "-"])
                    continue
                low, high = entry["quartiles_ms"]
                difference = entry.get("gradient_difference")
                rows.append([
                    row["name"], name, way, number(entry["ms"]), f"{number(low)}-{number(high)}",
                    number(entry["first_call_s"]),
                    "-" if difference is None else f"{difference:.0e}",
                ])
    return table(header, rows)


def cold_table(results: dict[str, Any]) -> str:
    """Return first call and peak memory, each in a fresh process."""
    header = [
        "row", "engine", "way", "first call s", "with an empty cache", "MiB above interpreter",
        "MiB above imports",
    ]
    rows = []
    for row in results["rows"]:
        for name, one in row.get("cold", {}).items():
            if "error" in one:
                why = f"{one['kind']}: {one['error']}"
                rows.append([row["name"], name, one["way"], why, "-", "-", "-"])
                continue
            rows.append([
                row["name"], name, one["way"], number(one["first_call_s"]),
                number(one.get("empty_cache_s")), number(one["above_interpreter_mib"]),
                number(one["above_imports_mib"]),
            ])
    return table(header, rows)


def scaling_table(studies: list[dict[str, Any]]) -> str:
    """Return one study: milliseconds of the fastest way of each engine."""
    names = list(dict.fromkeys(name for one in studies for name in one["engines"]))
    rows = []
    for one in studies:
        cells = []
        for name in names:
            timed = [e["ms"] for e in one["engines"].get(name, {}).values() if "ms" in e]
            cells.append(number(min(timed)) if timed else "-")
        rows.append([str(one["value"]), *cells])
    return table(["value", *names], rows)


def peak_table(results: dict[str, Any]) -> str:
    """Return what products reach of one core's multiply-add peak, in per cent."""
    header = ["dtype", "peak GF/s", "width", "product of a tile", "sum over its points", "BLAS"]
    rows = [
        [
            dtype, number(peak["gflops"]), str(one["width"]),
            *(f"{100 * one[name]:.0f}%" for name in ("product", "sum", "blas")),
        ]
        for dtype, peak in results["peak"].items()
        for one in peak["shares"]
    ]
    return table(header, rows)


def training_table(results: dict[str, Any]) -> str:
    """Return steps a second of the shipped config, by solver and executor."""
    rows = [
        [
            one["solver"], *(number(rate) for rate in one["rates"].values()),
            times(one["rates"]["llvm"] / one["rates"]["numba"]),
        ]
        for one in results["training"]
    ]
    return table(["solver", "numpy", "numba", "compiled", "compiled / numba"], rows)


def targets_table(results: dict[str, Any]) -> str:
    """Return the targets, hit or missed, with the figures."""
    rows = [
        [
            t["target"], t["row"], t["wanted"], number(t["measured"]), t["verdict"],
            number(t["missed_by"]),
        ]
        for t in results["targets"]
    ]
    return table(["target", "row", "wanted", "measured", "verdict", "missed by"], rows)


def profile_table(results: dict[str, Any]) -> str:
    """Return where the time of ours goes, one thread, by kind of call."""
    rows = []
    for row in results["rows"]:
        for way, entry in row["engines"].get("ours", {}).items():
            profile = entry.get("profile")
            if not profile:
                continue
            total = profile["ms_one_thread"]
            kinds = list(profile["kinds"].items())[:7]
            shares = ", ".join(f"{k} {100 * v['ms'] / total:.0f}%" for k, v in kinds)
            rows.append([
                row["name"], way, number(total), str(profile["chunk_rows"]),
                number(profile["arena_bytes"] / 2**20), str(profile["calls"]), shares,
            ])
    header = ["row", "way", "ms, one thread", "chunk", "arena MiB", "calls", "where"]
    return table(header, rows)


def _other_commands(results: dict[str, Any]) -> list[str]:
    """Return a line for each other command that rows were measured with."""
    by_command: dict[str, list[str]] = {}
    for row in results["rows"]:
        if "command" in row:
            by_command.setdefault(row["command"], []).append(row["name"])
    return [
        f"Measured apart, with `{command.split(' --rows')[0]} --rows ...`: {', '.join(names)}."
        for command, names in by_command.items()
    ]


def _part(
    results: dict[str, Any], key: str, title: str, made: Callable[[dict[str, Any]], str]
) -> list[str]:
    """Return a heading and a table, or nothing where that was not measured."""
    return [f"## {title}", made(results)] if results.get(key) else []


def markdown(results: dict[str, Any], figures: list[str]) -> str:
    """Return the whole report."""
    machine = ", ".join(f"{k} {v}" for k, v in results["machine"].items())
    versions = installed_versions(results["versions"])
    parts = [
        "# Benchmarks: one training step (loss, gradient, Adam)",
        f"`{results['command']}`; seed {results['seed']}, {results['threads']} threads, "
        f"{results['rounds']} interleaved rounds, medians of milliseconds.",
        *_other_commands(results),
        f"Machine: {machine}.\nVersions: {versions}.",
        *[f"Left out: {name}: {why}." for name, why in results["left_out"].items()],
        speed_table(results),
        _LEGEND,
        *[f"![{name}]({name})" for name in figures],
        "## Targets", targets_table(results),
        *_part(results, "peak", "One core's multiply-add peak", peak_table),
        *_part(results, "training", "Steps a second of configs/burgers.yaml", training_table),
        "## Every way", all_ways_table(results),
        "## First call and memory in a fresh process", cold_table(results),
        "## Where our time goes", profile_table(results),
    ]
    for study, entries in results["scaling"].items():
        parts += [f"## Scaling: {study}", scaling_table(entries)]
    return "\n\n".join(parts) + "\n"
