"""The kept results of the line-up as numbers."""

from __future__ import annotations

import math

import polars as pl

#: Payload of a full packet, and bytes that a link charges for it; 100 Gb/s in bytes per ns; a link's propagation in ns.
PAYLOAD, CHARGED, RATE, LINK = 4096, 4136 + 38, 12.5, 1000.0
#: Bytes of a flow, and flows that one receiver gets, where all flows start together.
TOGETHER = {
    "permutation": (1_000_000, 1),
    "incast-16": (256_000, 16),
    "incast-64": (256_000, 64),
    "incast-256": (256_000, 256),
    "all_to_all": (128_000, 63),
    "failed": (1_000_000, 1),
    "slow": (1_000_000, 1),
}
#: Parts of the mean completion time, as pictures and texts call them.
PARTS = {
    "NIC": ["nic_own", "nic_other", "serialisation", "queue_nic"],
    "window or pacing": ["blocked_window", "blocked_pacing", "blocked_ready"],
    "grants and credits": ["blocked_grant", "blocked_credit"],
    "queues at leaves": ["queue_edge"],
    "queues at spines": ["queue_aggregation"],
    "recovery": ["recovery"],
    "propagation": ["propagation"],
}


def bound(scenario: str) -> float:
    """The least time in ns in which the flows of a scenario can be done, where all start together: what one receiver gets, at
    the rate of its link, and the way of the last packet through four links."""
    size, flows = TOGETHER[scenario]
    full, rest = divmod(size, PAYLOAD)
    last = (rest or PAYLOAD) + CHARGED - PAYLOAD
    serial = (full * CHARGED + (last if rest else 0)) * flows / RATE
    return serial + 4 * LINK + 3 * last / RATE


def half_width(values: list[float]) -> float:
    """Half of the 95 % interval of the mean over seeds (Student's t)."""
    t = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}.get(len(values), math.inf)
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((one - mean) ** 2 for one in values) / max(len(values) - 1, 1))
    return t * spread / math.sqrt(len(values))


def shown(value: float) -> str:
    """A number with three digits at most."""
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


class Results:
    """The kept results."""

    def __init__(self, frame: pl.DataFrame) -> None:
        load = ~pl.col("scenario").is_in(list(TOGETHER))
        bounds = pl.col("scenario").replace_strict({one: bound(one) for one in TOGETHER}, default=None, return_dtype=pl.Float64)
        done = pl.col("completed") == pl.col("flows")
        number = pl.when(load).then(pl.col("slowdown_p99")).otherwise(pl.col("fct_max_ns") / bounds)
        self.frame = frame.with_columns(pl.when(done).then(number).alias("number"))
        self.labels: list[str] = frame["label"].unique().sort().to_list()
        self._seen: dict[str, dict[tuple[str, str, str], list[float | None]]] = {}

    def _by_seed(self, number: str) -> dict[tuple[str, str, str], list[float | None]]:
        """A column by scenario, configuration and label, in the order of seeds."""
        if number not in self._seen:
            own = self._seen[number] = {}
            rows = self.frame.select("scenario", "configuration", "label", "seed", number).sort("seed").iter_rows()
            for scenario, configuration, label, _, value in rows:
                own.setdefault((scenario, configuration, label), []).append(value)
        return self._seen[number]

    def values(self, label: str, scenario: str, configuration: str = "own", number: str = "number") -> list[float] | None:
        """A number of a scenario by seed, unless another is named the 99th percentile of the slowdown, or the time of the last
        flow over `bound`. None if a seed has flows that did not end."""
        seen = self._by_seed(number).get((scenario, configuration, label), [])
        values = [one for one in seen if one is not None]
        return values if values and len(values) == len(seen) else None

    def cell(self, label: str, scenario: str, configuration: str = "own", number: str = "number") -> str:
        """The same as text: `open` where flows did not end, `failed` where a run did not, `-` where none was."""
        if (mean := self.mean(label, scenario, configuration, number)) is not None:
            return shown(mean)
        at = (pl.col("scenario") == scenario) & (pl.col("configuration") == configuration) & (pl.col("label") == label)
        rows = self.frame.filter(at)
        return "-" if rows.is_empty() else "failed" if rows["error"].is_not_null().any() else "open"

    def mean(self, label: str, scenario: str, configuration: str = "own", number: str = "number") -> float | None:
        """The same, mean over seeds."""
        values = self.values(label, scenario, configuration, number)
        return sum(values) / len(values) if values else None

    def order(self, scenario: str, configuration: str = "own", number: str = "number") -> list[str]:
        """Labels from the lowest number on."""
        known = {label: self.mean(label, scenario, configuration, number) for label in self.labels}
        return sorted((one for one in known if known[one] is not None), key=lambda one: (known[one], one))

    def leaders(self, scenario: str, configuration: str = "own") -> list[str]:
        """Those within 5 % of the lowest."""
        known = [(one, self.mean(one, scenario, configuration) or 0.0) for one in self.order(scenario, configuration)]
        return [one for one, mean in known if mean <= 1.05 * known[0][1]]

    def parts(self, label: str, scenario: str, configuration: str = "own", flows: str = "") -> dict[str, float]:
        """Parts of the mean completion time in us, mean over seeds; of all flows, or of those under 100 KB (`short_`)."""
        at = (pl.col("scenario") == scenario) & (pl.col("configuration") == configuration) & (pl.col("label") == label)
        rows = self.frame.filter(at)
        return {
            part: sum(float(rows[f"{flows}{one}_mean_ns"].mean() or 0.0) for one in columns) / 1e3  # type: ignore[arg-type]
            for part, columns in PARTS.items()
        }
