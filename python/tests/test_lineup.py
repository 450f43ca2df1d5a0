"""The line-up: its page is what its results say, its transports are those of the catalogue, and it runs in small."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "experiments/lineup"))

import lineup  # noqa: E402
import page  # noqa: E402
from results import Results, bound, half_width  # noqa: E402

STUDY = tomllib.loads((TOP / "experiments/lineup/lineup.toml").read_text())


@pytest.fixture(scope="module")
def results() -> Results:
    return Results(pl.read_parquet(TOP / "experiments/lineup/results.parquet"))


def test_the_page_is_what_the_results_say(results: Results) -> None:
    again = "python experiments/lineup/lineup.py --page renews it"
    assert page.Page(results, TOP).text() == (TOP / "docs/lineup.md").read_text(), again
    text = (TOP / "docs/lineup.md").read_text()
    pictures = [path.name for path in (TOP / "docs/images/lineup").iterdir()]
    assert all(f"images/lineup/{name}" in text for name in pictures) and len(pictures) == 5


def test_the_transports_are_those_of_the_catalogue() -> None:
    variants = [one["transport"] for one in STUDY["study"]["variants"].values()]
    known = page.duties(TOP)
    assert {*STUDY["transport"]["names"], *variants} == set(known) - {"none"}
    assert all(known.values())


def test_every_run_is_there(results: Results) -> None:
    labels = {*STUDY["transport"]["names"], *STUDY["study"]["variants"]}
    assert set(results.labels) <= labels
    labels &= set(results.labels)
    for scenario, configuration, _ in page.COLUMNS:
        for label in labels:
            rows = results.frame.filter(scenario=scenario, configuration=configuration, label=label)
            assert rows.height == STUDY["study"]["seeds"], f"{label}, {scenario}, {configuration}"


def test_no_row_is_of_other_results(results: Results) -> None:
    now = lineup.versions()
    stale = {row["label"] for row in results.frame.to_dicts() if row["version"] != now[row["transport"]]}
    assert not stale, f"results-versions.toml has moved: python experiments/lineup/lineup.py --only {' '.join(sorted(stale))}"


def test_the_bound_is_that_of_the_links() -> None:
    # A megabyte is 245 packets, the last of 576 B: 244 full ones of 4,174 B and one of 654 B at 100 Gb/s, then four links
    # of 1 us and three transmissions of the last packet.
    alone = (244 * 4174 + 654) * 0.08 + 4000 + 3 * 654 * 0.08
    assert bound("permutation") == pytest.approx(alone)
    # 16 x 62.5 packets of a quarter of a megabyte at one receiver.
    assert bound("incast-16") == pytest.approx(16 * (62 * 4174 + 2126) * 0.08 + 4000 + 3 * 2126 * 0.08)


def frame(numbers: dict[str, list[float]]) -> pl.DataFrame:
    rows = [
        {"scenario": "web_search-0.6", "configuration": "own", "label": label, "transport": label, "seed": seed,
         "error": None, "flows": 9, "completed": 9 if value else 8, "slowdown_p99": value, "fct_max_ns": 1.0}
        for label, values in numbers.items()
        for seed, value in enumerate(values)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def test_leaders_are_within_a_twentieth_of_the_lowest() -> None:
    own = Results(frame({"a": [2.0, 3.0, 4.0], "b": [2.1, 2.9, 4.3], "c": [3.0, 4.0, 5.1], "d": [1.0, 1.0, 0.0]}))
    assert own.order("web_search-0.6") == ["a", "b", "c"]
    assert own.leaders("web_search-0.6") == ["a", "b"]
    # Flows that did not end leave no number.
    assert own.cell("d", "web_search-0.6") == "open" and own.cell("e", "web_search-0.6") == "-"
    # Three values 1, 2, 3: t = 4.303 at two degrees of freedom, over the root of 3.
    assert half_width([1.0, 2.0, 3.0]) == pytest.approx(2.484, abs=1e-3)


def test_an_order_that_does_not_hold_stops_the_page() -> None:
    own = page.Page(Results(frame({"a": [2.0, 3.0, 4.0], "b": [3.0, 4.0, 5.0]})), TOP)
    assert own.less("a / web_search-0.6 < b / web_search-0.6") == ""
    with pytest.raises(ValueError, match="page.md rests on"):
        own.less("b / web_search-0.6 < a / web_search-0.6")


def test_only_some_are_known_by_their_labels() -> None:
    with pytest.raises(SystemExit, match="--only: pdq: expected some of aeolus, .*uec, rccc"):
        lineup.these(["swift", "pdq"])


def test_the_small_version_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lineup, "STUDIES", {name: lineup.STUDIES[name] for name in ("load", "permutation", "incast")})
    monkeypatch.delenv("INCAST", raising=False)
    lineup.main(["--quick", "--out", str(tmp_path), "--only", "ndp", "dctcp", "dcqcn, PFC"])
    said = capfd.readouterr().out
    rows = [line for line in said.splitlines() if line.startswith("| ")]
    assert len(rows) == 5 and "permutation" in rows[0] and "open" not in said
