"""The page of the line-up: its numbers, table and pictures, all from results.parquet. Texts are in page.md, in which
`{name words}` stands for what `Page.name(words)` gives; an order that the text rests on is checked by `{less ...}`."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pictures
from results import Results, half_width, shown

HERE = Path(__file__).resolve().parent

#: Columns of the table: scenario, configuration, title.
COLUMNS = [
    ("web_search-0.6", "own", "web search 0.6"),
    ("data_mining-0.6", "own", "data mining 0.6"),
    ("permutation", "own", "permutation"),
    ("incast-64", "own", "incast 64"),
    ("incast-256", "own", "incast 256"),
    ("all_to_all", "own", "all to all"),
    ("failed", "own", "failed uplink"),
    ("slow", "own", "slow uplink"),
    ("web_search-0.6", "same", "one path: web search"),
    ("permutation", "same", "one path: permutation"),
    ("web_search-0.6", "small", "1 BDP: web search"),
    ("incast-64", "small", "1 BDP: incast 64"),
    ("hosts", "own", "noisy hosts: web search"),
]
#: What a switch must be able to do, and the words of docs/transports.md that say so.
DUTIES = {
    "nothing": r"^none",
    "marks": r"ECN (marking|between)|, ECN,",
    "trims": r"trim",
    "drops by class": r"selective",
    "priorities": r"priorit",
    "several queues": r"(two|weighted) queues|for credits|as ExpressPass|control class",
    "paths per packet": r"per-packet|hashed path",
    "telemetry": r"writes time|adds its state",
    "few bits": r"its load|clears a bit|2-bit|12 bits",
    "samples": r"samples",
    "computes": r"computes|offers one",
    "state per flow": r"measures each",
    "sorts its queue": r"drop the one",
    "makes packets": r"packets of its own|acknowledges first",
}


def duties(top: Path) -> dict[str, str]:
    """What switches must do for each transport, in few words, from docs/transports.md."""
    rows = re.findall(r"^\| \[(\w+)\]\(.*?\) \| [^|]* \| ([^|]*) \|", (top / "docs/transports.md").read_text(), re.M)
    return {
        name: ", ".join(short for short, words in DUTIES.items() if re.search(words, text)) or text for name, text in rows
    }


def needed(label: str, need: str) -> str:
    """What switches must do for a variant."""
    if label.endswith("no trimming"):
        need = need.replace("trims, ", "")
    return need.replace("nothing", "PFC") if label.endswith("PFC") and need == "nothing" else need + ", PFC" * label.endswith("PFC")


def table(results: Results, needs: dict[str, str] | None = None) -> str:
    """The table: a row per transport, in the order of web search at load 0.6; in bold what is within 5 % of the lowest of a column."""
    columns = [one for one in COLUMNS if results.order(*one[:2])]
    best = [results.leaders(*one[:2]) for one in columns]
    rows = [["transport", *(title for _, _, title in columns), *(["switches"] if needs else [])]]
    first = results.order(*COLUMNS[0][:2])
    transports = dict(results.frame.select("label", "transport").unique().iter_rows())
    for label in first + [one for one in results.labels if one not in first]:
        need = [needed(label, needs[transports[label]])] if needs else []
        cells = []
        for (scenario, configuration, _), leaders in zip(columns, best, strict=True):
            text = results.cell(label, scenario, configuration)
            cells.append(f"**{text}**" if label in leaders else text)
        rows.append([label, *cells, *need])
    rows.insert(1, ["---", *["--:"] * len(columns), *["---"] * bool(needs)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


#: Classes of switches, and the needs of which one puts a system there.
CLASSES = {
    "new functions": ["telemetry", "few bits", "samples", "computes", "state per flow", "sorts its queue", "makes packets"],
    "trimming, or dropping by class": ["trims", "drops by class"],
    "several queues": ["priorities", "several queues"],
    "ECN marks": ["marks"],
    "nothing": [],
}


class Page:
    """What stands in braces in page.md. Words are separated by ` / `; a place is a scenario, a configuration unless it is `own`,
    and a column unless it is the number of the table."""

    def __init__(self, results: Results, top: Path) -> None:
        self.results, self.top = results, top

    def table(self, _: str) -> str:
        """The table."""
        return table(self.results, duties(self.top))

    def best(self, words: str) -> str:
        """The lowest so many of a place, with their numbers."""
        count, place = words.split(" / ")
        order = self.results.order(*place.split())[: int(count)]
        return ", ".join(f"{one} ({self.results.cell(one, *place.split())})" for one in order)

    def number(self, words: str) -> str:
        """The number of a system at a place."""
        label, place = words.split(" / ")
        return self.results.cell(label, *place.split())

    def width(self, words: str) -> str:
        """Half of the interval of a place over its mean, in percent: median over all systems."""
        pairs = [self.results.values(one, *words.split()) for one in self.results.labels]
        shares = sorted(half_width(one) / (sum(one) / len(one)) for one in pairs if one)
        return f"{100 * shares[len(shares) // 2]:.0f} %"

    def offered(self, scenario: str) -> str:
        """The load that the flows of a scenario bring, by seed: the lowest and the highest."""
        loads = self.results.frame.filter(scenario=scenario)["offered_load"].drop_nulls()
        return f"{loads.min():.2f} to {loads.max():.2f}"

    def share(self, words: str) -> str:
        """The share of parts, joined by ` + `, in the mean completion time of a system at a place."""
        names, label, place = words.split(" / ")
        parts = self.results.parts(label, *place.split())
        return f"{100 * sum(parts[one] for one in names.split(' + ')) / sum(parts.values()):.0f} %"

    def classes(self, place: str) -> str:
        """By what switches must do, the lowest number of a place, with its system and what it needs."""
        needs, transports = duties(self.top), dict(self.results.frame.select("label", "transport").unique().iter_rows())
        lines = []
        for name, words in CLASSES.items():
            above = [word for own in list(CLASSES.values())[: list(CLASSES).index(name)] for word in own]

            def belongs(label: str, words: list[str] = words, above: list[str] = above) -> bool:
                own = set(needed(label, needs[transports[label]]).split(", "))
                return not own & {*above, "PFC"} and (bool(own & set(words)) or not words)

            order = [one for one in self.results.order(*place.split()) if belongs(one)]
            best = ", ".join(f"{one} {self.results.cell(one, *place.split())}" for one in order[:3])
            lines.append(f"- **{name}** ({len(order)}): {best}")
        return "\n".join(lines)

    def _two(self, words: str) -> tuple[list[float], list[float]]:
        one, other = (part.split(" / ") for part in words.split(" < "))
        low, high = (self.results.values(label, *place.split()) or [math.nan] for label, place in (one, other))
        return low, high

    def says(self, words: str) -> str:
        """Whether the first number is lower than the second, in all seeds, in none, or in some."""
        low, high = self._two(words)
        lower = [a < b for a, b in zip(low, high, strict=True)]
        found = "holds" if all(lower) else "seeds disagree" if any(lower) else "**does not hold**"
        means = (sum(own) / len(own) for own in (low, high))
        return f"{found} ({' and '.join(shown(one) for one in means)})"

    def less(self, words: str) -> str:
        """Nothing; that the first number is lower than the second, seed by seed, is what the text rests on."""
        low, high = self._two(words)
        if not all(a < b for a, b in zip(low, high, strict=True)):
            raise ValueError(f"page.md rests on {words}, but the results are {low} and {high}")
        return ""

    def text(self) -> str:
        """The page."""

        def filled(found: re.Match[str]) -> str:
            made: Any = getattr(self, found[1])(" ".join(found[2].split()))
            return str(made)

        names = "table|best|number|offered|width|share|classes|says|less"
        text = re.sub(r"\{(" + names + r")\b([^}]*)\}", filled, (HERE / "page.md").read_text())
        return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def write(results: Results, top: Path) -> None:
    """Writes page and pictures."""
    (top / "docs/lineup.md").write_text(Page(results, top).text())
    pictures.write(results, top / "docs/images/lineup")
