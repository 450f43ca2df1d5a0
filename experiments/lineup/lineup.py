"""The line-up: every transport of the catalogue in the same scenarios.

    python experiments/lineup/lineup.py            # runs what is missing, renews results.parquet, docs/lineup.md and its pictures
    python experiments/lineup/lineup.py --quick    # a small version in a minute: prints its table, renews nothing
    python experiments/lineup/lineup.py --only uec swift    # runs these labels alone, and keeps their rows beside the others'
    python experiments/lineup/lineup.py --page     # page and pictures from results.parquet alone

Runs are studies (docs/studies.md) in `--out`, one for each scenario, so an interruption costs the points under way, and a
transport that is added to lineup.toml runs alone. `INCAST` names the command, if not the one of this Python.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl

import page
from results import PARTS, Results

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
STUDY = HERE / "lineup.toml"
KEPT = HERE / "results.parquet"
VERSIONS = TOP / "crates/experiment/results-versions.toml"

PERMUTATION = 'traffic=[{kind="permutation", size="1MB"}]'
DEEP = 'study.vary."fabric.buffer"=["480KB"]'
#: What each study sets beside lineup.toml. `study.vary` of a scenario is a part of its rows' names.
STUDIES = {
    "load": [
        'study.vary."traffic.0.workload"=["web_search", "data_mining"]',
        'study.vary."traffic.0.load"=[0.6, 0.3, 0.8]',
        'study.when."transport.routing"={"traffic.0.load"=0.6}',
        'study.when."fabric.buffer"={"transport.routing"="auto", "traffic.0.load"=0.6}',
    ],
    "permutation": [PERMUTATION],
    "incast": [
        'traffic=[{kind="incast", fan_in=16, size="256KB"}]',
        'study.vary."traffic.0.fan_in"=[16, 64, 256]',
    ],
    "all_to_all": ['traffic=[{kind="all_to_all", size="128KB"}]', DEEP],
    "failed": [PERMUTATION, 'fabric.failures=[{at="30us", a="leaf0", b="spine0"}]', DEEP],
    "slow": [PERMUTATION, 'fabric.links=[{a="leaf0", b="spine0", rate="25Gbps"}]', DEEP],
    # Web search at 0.6; what hosts take on average is in the base RTT that all are told.
    "hosts": [
        'host={send_delay="uniform:500ns-1500ns", receive_delay="exponential:1us", stamp_resolution="100ns"}',
        'fabric.base_rtt="13.4us"',
        'study.vary."transport.routing"=["auto"]',
        DEEP,
    ],
}
#: And so it is a smoke test: each transport as its authors have it, in small.
QUICK = ["study.seeds=1", 'study.vary."transport.routing"=["auto"]', DEEP]
QUICK_LOAD = ['study.vary."traffic.0.load"=[0.6]', "study.when={}", "traffic.0.flows=60"]

#: By routing and buffer.
CONFIGURATIONS = {("auto", 480e3): "own", ("auto", 120e3): "small", ("symmetric-ecmp", 480e3): "same"}

#: What is kept of a row, beside what names it.
NUMBERS = """
flows completed slowdown_mean slowdown_median slowdown_p99 slowdown_max fct_mean_ns fct_p99_ns fct_max_ns
short_slowdown_mean short_slowdown_p99 short_fct_p99_ns long_slowdown_mean
feedback_per_payload total_packets total_retransmits marks drops credit_drops trims paused_ns pause_frames
link_losses packet_hops goodput_gbps offered_load ended_ns imbalance_mean switch_backlog_p99_bytes switch_backlog_max_bytes balance_reached
""".split() + [
    f"{flows}{part}_mean_ns" for flows in ("", "short_") for parts in PARTS.values() for part in parts
]


def inline(value: object) -> str:
    """A value of a TOML file in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {inline(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)


def these(labels: list[str]) -> list[str]:
    """What leaves only some labels of lineup.toml."""
    study = tomllib.loads(STUDY.read_text())
    names, variants = study["transport"]["names"], study["study"]["variants"]
    if unknown := set(labels) - {*names, *variants}:
        sys.exit(f"--only: {', '.join(sorted(unknown))}: expected some of {', '.join([*names, *variants])}")
    left = {one: own for one, own in variants.items() if one in labels}
    of = [f"transport.names={json.dumps([one for one in names if one in labels])}", f"study.variants={inline(left)}"]
    return [*of, f"study.baseline={json.dumps(labels[0])}"]


def run(name: str, out: Path, quick: bool, threads: int | None, only: list[str] | None = None) -> pl.DataFrame:
    """Runs what a study's folder lacks, and returns its rows."""
    command = [os.environ["INCAST"]] if "INCAST" in os.environ else [sys.executable, "-m", "incast"]
    sets = STUDIES[name] + (QUICK + QUICK_LOAD * (name == "load") if quick else []) + (these(only) if only else [])
    words = [*command, "study", str(STUDY), "--out", str(out / name)]
    words += [word for one in sets for word in ("--set", one)]
    words += ["--threads", str(threads)] if threads else []
    # With points that failed, which are rows with their error, it ends with 1.
    if subprocess.run(words, check=False).returncode not in (0, 1):
        sys.exit(f"{' '.join(words)} was interrupted, or failed; the same command continues it")
    return pl.read_parquet(out / name / "study.parquet")


def scenario(name: str, rows: pl.DataFrame) -> pl.Expr:
    """What the rows of a study are called: `web_search-0.6`, `incast-64`, `permutation`."""
    if name == "load":
        return pl.format("{}-{}", "traffic.0.workload", "traffic.0.load")
    if name == "incast":
        return pl.format("incast-{}", "traffic.0.fan_in")
    return pl.lit(name)


def versions() -> dict[str, str]:
    """Of each transport the version of its results and of the engine's: rows of others are stale."""
    all = tomllib.loads(VERSIONS.read_text())
    return {name: f"{all['engine']}.{version}" for name, version in all["transports"].items()}


def kept(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of a study as they are kept: named by scenario and configuration, with five digits of each number."""
    where = pl.struct("transport.routing", "fabric.buffer").map_elements(
        lambda at: CONFIGURATIONS[at["transport.routing"], at["fabric.buffer"]], return_dtype=pl.String
    )
    floats = [one for one in NUMBERS if rows[one].dtype == pl.Float64]
    version = pl.col("transport").replace_strict(versions(), return_dtype=pl.String).alias("version")
    return rows.select(
        scenario(name, rows).alias("scenario"),
        where.alias("configuration"),
        "label",
        "transport",
        version,
        "seed",
        "hash",
        "error",
        *NUMBERS,
    ).with_columns(pl.col(floats).round_sig_figs(5))


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small version in a minute; renews nothing")
    parser.add_argument("--page", action="store_true", help="run nothing: page and pictures from results.parquet")
    parser.add_argument("--only", nargs="+", metavar="LABEL", help="these transports and variants; other rows stay as they are")
    parser.add_argument("--out", type=Path, help="the folder of the studies; default: results/lineup, or results/lineup-quick")
    parser.add_argument("--threads", type=int, help="points that run at a time; default: one per core")
    given = parser.parse_args(words)
    if not given.page:
        out = given.out or Path("results/lineup-quick" if given.quick else "results/lineup")
        rows = [kept(name, run(name, out, given.quick, given.threads, given.only)) for name in STUDIES]
        if given.only:
            # Studies have all rows of their folders.
            rows = [one.filter(pl.col("label").is_in(given.only)) for one in rows]
            if KEPT.is_file() and not given.quick:
                rows.append(pl.read_parquet(KEPT).filter(~pl.col("label").is_in(given.only)))
        frame = pl.concat(rows).sort("scenario", "configuration", "label", "seed")
        if given.quick:
            print(page.table(Results(frame)))
            return
        frame.write_parquet(KEPT, compression="zstd", compression_level=19)
    page.write(Results(pl.read_parquet(KEPT)), TOP)


if __name__ == "__main__":
    main()
