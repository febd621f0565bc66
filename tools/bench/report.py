"""What `harness.measure` found, for people; and whether any of it is bad news."""

from __future__ import annotations

from statistics import median
from typing import Any


def table(rows: list[tuple[str, ...]]) -> str:
    """Left-aligned first column, right-aligned others, except the last."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if at in (0, len(row) - 1) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:.0f}"


def text(found: dict[str, Any]) -> str:
    before, after = (f"{found['load'][when][0]:.2f}" for when in ("before", "after"))
    sizes = ", ".join(
        f"{name}={value}" for name, value in found["parameters"].items() if isinstance(value, int | float)
    )
    place = f"{found['rounds']} rounds on cores {found['cores']}; load {before} before, {after} after"
    parts = [f"{found['problem']}: {sizes}; {place}"]

    rows: list[tuple[str, ...]] = [("", "median s", "min", "max", "cpu s", "first", "peak MB", "rise MB", "")]
    for entry in found["contestants"]:
        times = entry["seconds"]
        spread = (median(times), min(times), max(times)) if times else (None, None, None)
        state = " ".join(filter(None, (entry["status"] if entry["status"] != "ok" else "", entry["message"])))
        cpu = median(entry["cpu_seconds"]) if times else None
        figures = (*spread, cpu, entry["first_seconds"], entry["peak_mb"], entry["rise_mb"])
        rows.append((entry["name"], *map(number, figures), state))
    parts.append(table(rows))

    rows = []
    for entry in found["contestants"]:
        for row in entry["comparison"]:
            difference = "not finite" if row["difference"] is None else f"{row['difference']:.1e}"
            sides = difference, f"{row['tolerance']:.0e}"
            rows.append((entry["name"], row["answer"], *sides, "agrees" if row["agrees"] else "DISAGREES"))
        rows += [(entry["name"], answer, "-", "-", "no answer") for answer in entry["unanswered"]]
    if rows:
        parts.append(table([("answers", "", "difference", "tolerance", ""), *rows]))

    rows = []
    for row in found["targets"]:
        measured = number(row["measured"]) + row["unit"] if row["measured"] is not None else "-"
        spread_of = "" if row["range"] is None else f"{number(row['range'][0])} to {number(row['range'][1])}"
        rows.append((row["target"], row["wanted"], measured, spread_of, row["verdict"]))
    if rows:
        parts.append(table([("targets", "wanted", "measured", "range", ""), *rows]))

    versions = {entry["name"]: entry["versions"] for entry in found["contestants"] if entry["versions"]}
    seen = sorted({", ".join(f"{name} {version}" for name, version in each.items()) for each in versions.values()})
    parts.append("\n".join(f"  {line}" for line in seen))
    return "\n\n".join(parts) + "\n"


def bad_news(found: dict[str, Any]) -> bool:
    """A target missed, answers that disagree or a contestant that failed; what is missing is no news."""
    return any(row["verdict"] == "MISSED" for row in found["targets"]) or any(
        entry["status"] in ("failed", "DISAGREES") for entry in found["contestants"]
    )
