"""The commands with their flags as keywords."""

# Written by python/tests/declared.py from the declarations of the program; do not edit.

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from . import _session
from ._control import Control
from ._results import Results
from ._section import Parameters, Section

#: Overrides: by key, as `key=value`, or as parameters of transports.
Sets = Mapping[str, Any] | Sequence[str | Parameters] | None
Out = str | os.PathLike[str] | bool | None
AnyScenario = str | os.PathLike[str] | Mapping[str, Any] | Section | None


def demo(
    *,
    world: Literal["sim", "dataplane", "flow"] | None = None,
    threads: int | Literal["auto"] | None = None,
    backend: Literal["memory", "rings"] | None = None,
    clock: Literal["virtual", "paced", "compensated", "tsc"] | None = None,
    max_lateness: float | None = None,
    max_packet_difference: float | None = None,
    out: Out = None,
    force: bool = False,
    progress: bool | None = None,
) -> Results:
    """Compares six transports on a small fabric. The command is `incast demo`.

    Args:
        world: Execution environment: the simulator (sim), the data plane (dataplane), or
            flow level (flow). Accepted: `sim`, `dataplane`, `flow`. Default: sim.
        threads: Number of threads, one per core by default. Does not change results.
            Accepted: 1 or more, or `auto`. Default: all cores.
        backend: What carries the data plane's frames: memory, or rings (DPDK). Accepted:
            `memory`, `rings`. Default: memory.
        clock: The data plane's clock: virtual, paced, compensated or tsc. Accepted:
            `virtual`, `paced`, `compensated`, `tsc`. Default: virtual.
        max_lateness: Refuse a run in real time whose p99.9 lateness exceeds this share of
            the base RTT. Accepted: 0 to 1. Default: 0.05.
        max_packet_difference: Refuse a run in real time whose packets differ from the
            virtual run's by this share. Accepted: 0 to 1. Default: 0.03.
        out: A folder for the results. True: the next numbered one in `results`. None:
            nothing is written; `save` of the results writes them later.
        force: Replace the results in `out`.
        progress: Show progress. None: where a person sees it.

    Raises:
        ScenarioError: something given is not valid.
        Interrupted: Ctrl-C; what there is until then is its `results`.
    """
    return _session.demo(
        {
            "world": world,
            "threads": threads,
            "backend": backend,
            "clock": clock,
            "max_lateness": max_lateness,
            "max_packet_difference": max_packet_difference,
        },
        out=out,
        force=force,
        progress=progress,
    )


def compare(
    transports: str | Sequence[str | type[Control]] | None = None,
    *,
    topology: str | None = None,
    rate: str | None = None,
    propagation: str | None = None,
    oversubscription: float | None = None,
    buffer: str | None = None,
    shared_buffer: str | None = None,
    pfc: bool = False,
    mtu: int | None = None,
    no_l2_overhead: bool = False,
    forwarding: Literal["store_and_forward", "cut_through"] | None = None,
    lb: Literal["ecmp", "symmetric-ecmp", "spray", "round-robin", "source-round-robin", "source-path", "entropy", "least-queue", "drill", "flowlet", "conga", "plb", "paths", "auto"] | None = None,
    paths: str | None = None,
    acks: Literal["data", "control", "auto"] | None = None,
    workload: str | None = None,
    load: float | None = None,
    flows: int | None = None,
    incast: int | None = None,
    incast_size: str | None = None,
    incast_period: str | None = None,
    seed: int | None = None,
    world: Literal["sim", "dataplane", "flow"] | None = None,
    against_packets: int | None = None,
    threads: int | Literal["auto"] | None = None,
    backend: Literal["memory", "rings"] | None = None,
    clock: Literal["virtual", "paced", "compensated", "tsc"] | None = None,
    max_lateness: float | None = None,
    max_packet_difference: float | None = None,
    csv: bool = False,
    pcap: str | Sequence[str] | None = None,
    pcap_flows: str | Sequence[int] | None = None,
    pcap_snap: int | None = None,
    set: Sets = None,
    out: Out = None,
    force: bool = False,
    progress: bool | None = None,
) -> Results:
    """Compares transports on identical arrivals. The command is `incast compare`.

    Args:
        transports: Transports, separated by commas, or `all`. Accepted: a list, each text.
            Default: dctcp,swift,expresspass,homa,ndp,ren,sird,uec.
        topology: Topology, such as leaf-spine:8x8x8, or a topology file (HPCC, htsim
            .topo). Accepted: text. Default: leaf-spine:8x8x8.
        rate: Rate of links. Accepted: a rate above 0, or `auto`. Default: 40Gbps.
        propagation: One-way propagation delay of a link. Accepted: a time such as `8us`, or
            `auto`. Default: 1us.
        oversubscription: Ratio of host capacity to uplink capacity of an edge switch.
            Accepted: a number above 0.
        buffer: Buffer of a switch port, in bytes or packets; REN's evaluation uses 128KiB.
            Accepted: a size such as `128KiB`, `<n>packets` or `unlimited`. Default: 128KiB.
        shared_buffer: One shared buffer of this size per switch, with dynamic threshold
            alpha = 1. Accepted: 2KB or more.
        pfc: Enable PFC (802.1Qbb); `--buffer` is then the xoff threshold per link and
            class.
        mtu: Largest packet at the network layer. Accepted: 128 to 65000. Default: 1500.
        no_l2_overhead: Links charge IP bytes only, as in ns-2-style figures.
        forwarding: How switches forward packets: `store_and_forward`, or `cut_through`,
            which begins when a packet's first bytes have arrived if the egress is idle and
            no faster than the link by which the packet arrives, and stores it otherwise.
            Accepted: `store_and_forward`, `cut_through`. Default: store_and_forward.
        lb: Load balancing of all transports. Accepted: `ecmp`, `symmetric-ecmp`, `spray`,
            `round-robin`, `source-round-robin`, `source-path`, `entropy`, `least-queue`,
            `drill`, `flowlet`, `conga`, `plb`, `paths`, or `auto`. Default: each
            transport's own.
        paths: Fixed paths of flows, for `--lb paths`. Accepted: text.
        acks: Class of the ACKs of sender-driven transports: `data` (ACKs wait among data)
            or `control` (class 0, strictly before data). What destinations of receiver-
            driven transports send (grants, tokens, credits, pulls) keeps the class of their
            papers: it paces data, and would be another transport in a queue behind data.
            Accepted: `data`, `control`, or `auto`. Default: each transport's own.
        workload: Flow sizes: a name of `incast list`, or a file. Accepted: text. Default:
            web_search.
        load: Share of the ToR uplinks' rate that the flows take on the wire; of the host
            links' rate where uplinks are no bottleneck. The run says of which, the manifest
            how it is counted. Accepted: a number above 0, at most 10; 0.6 is 60 %. Default:
            0.6.
        flows: Number of flows. Accepted: 1 to 4194304. Default: 2000.
        incast: Add an incast: this many senders, 64 KB each, to host 0 after 100 us; with
            --incast-period one after the other, each to a random host. Accepted: a whole
            number.
        incast_size: Bytes of a flow of the incast. Accepted: a size such as `64KB`.
        incast_period: Time from one incast to the next, as long as other flows start.
            Accepted: a time such as `8us`.
        seed: Seed of the random numbers. Accepted: a whole number. Default: 1.
        world: Execution environment: the simulator (sim), the data plane (dataplane), or
            flow level (flow). Accepted: `sim`, `dataplane`, `flow`. Default: sim.
        against_packets: With --world flow: run the first FLOWS flows in packets as well,
            and tell the error. Accepted: 1 to 1000000. Default: no comparison.
        threads: Number of threads, one per core by default. Does not change results.
            Accepted: 1 or more, or `auto`. Default: all cores.
        backend: What carries the data plane's frames: memory, or rings (DPDK). Accepted:
            `memory`, `rings`. Default: memory.
        clock: The data plane's clock: virtual, paced, compensated or tsc. Accepted:
            `virtual`, `paced`, `compensated`, `tsc`. Default: virtual.
        max_lateness: Refuse a run in real time whose p99.9 lateness exceeds this share of
            the base RTT. Accepted: 0 to 1. Default: 0.05.
        max_packet_difference: Refuse a run in real time whose packets differ from the
            virtual run's by this share. Accepted: 0 to 1. Default: 0.03.
        csv: Write CSV files in addition to Parquet.
        pcap: Capture these ports (leaf0->spine1, a number, all) as pcapng. Accepted: a
            list, each text. Default: [].
        pcap_flows: Capture only the packets of these flows. Accepted: a list, each a whole
            number. Default: all.
        pcap_snap: Keep only the first BYTES of each captured packet. Accepted: a whole
            number. Default: 0.
        set: Parameters of transports, such as `{'ren.spend': 'any'}` or objects of
            `incast.parameters`, and any key of a scenario, such as `{'run.until': '10ms'}`.
        out: A folder for the results. True: the next numbered one in `results`. None:
            nothing is written; `save` of the results writes them later.
        force: Replace the results in `out`.
        progress: Show progress. None: where a person sees it.

    Raises:
        ScenarioError: something given is not valid.
        Interrupted: Ctrl-C; what there is until then is its `results`.
    """
    return _session.compare(
        {
            "transports": transports,
            "topology": topology,
            "rate": rate,
            "propagation": propagation,
            "oversubscription": oversubscription,
            "buffer": buffer,
            "shared_buffer": shared_buffer,
            "pfc": pfc,
            "mtu": mtu,
            "no_l2_overhead": no_l2_overhead,
            "forwarding": forwarding,
            "lb": lb,
            "paths": paths,
            "acks": acks,
            "workload": workload,
            "load": load,
            "flows": flows,
            "incast": incast,
            "incast_size": incast_size,
            "incast_period": incast_period,
            "seed": seed,
            "world": world,
            "against_packets": against_packets,
            "threads": threads,
            "backend": backend,
            "clock": clock,
            "max_lateness": max_lateness,
            "max_packet_difference": max_packet_difference,
            "csv": csv,
            "pcap": pcap,
            "pcap_flows": pcap_flows,
            "pcap_snap": pcap_snap,
        },
        set=set,
        out=out,
        force=force,
        progress=progress,
    )


def run(
    scenario: AnyScenario = None,
    *,
    topology: str | None = None,
    transport: str | Sequence[str] | None = None,
    program: str | None = None,
    flows: str | None = None,
    seed: int | None = None,
    world: Literal["sim", "dataplane", "flow"] | None = None,
    against_packets: int | None = None,
    threads: int | Literal["auto"] | None = None,
    backend: Literal["memory", "rings"] | None = None,
    clock: Literal["virtual", "paced", "compensated", "tsc"] | None = None,
    max_lateness: float | None = None,
    max_packet_difference: float | None = None,
    csv: bool = False,
    pcap: str | Sequence[str] | None = None,
    pcap_flows: str | Sequence[int] | None = None,
    pcap_snap: int | None = None,
    set: Sets = None,
    allow_changed_files: bool = False,
    out: Out = None,
    force: bool = False,
    progress: bool | None = None,
) -> Results:
    """Runs a scenario, or repeats a run. The command is `incast run`.

    Args:
        scenario: A path of a scenario file, of a manifest or of a results folder; TOML as
            text of several lines; a dictionary; or a `Scenario`. Without one, `topology`
            and `flows` are files of other tools.
        topology: Topology, such as leaf-spine:8x8x8, or a topology file (HPCC, htsim
            .topo). Accepted: text.
        transport: Transport for --flows or --program. Accepted: a list, each text.
        program: A file of GOAL, text or binary, a workload of SimAI, or a trace of Chakra,
            of which it names one rank's file (docs/dialects.md). Accepted: text.
        flows: A flow file (HPCC, htsim .cm, YAPS, CSV), recognised by content. Accepted:
            text.
        seed: Seed of the random numbers. Accepted: a whole number. Default: 1.
        world: Execution environment: the simulator (sim), the data plane (dataplane), or
            flow level (flow). Accepted: `sim`, `dataplane`, `flow`. Default: sim.
        against_packets: With --world flow: run the first FLOWS flows in packets as well,
            and tell the error. Accepted: 1 to 1000000. Default: no comparison.
        threads: Number of threads, one per core by default. Does not change results.
            Accepted: 1 or more, or `auto`. Default: all cores.
        backend: What carries the data plane's frames: memory, or rings (DPDK). Accepted:
            `memory`, `rings`. Default: memory.
        clock: The data plane's clock: virtual, paced, compensated or tsc. Accepted:
            `virtual`, `paced`, `compensated`, `tsc`. Default: virtual.
        max_lateness: Refuse a run in real time whose p99.9 lateness exceeds this share of
            the base RTT. Accepted: 0 to 1. Default: 0.05.
        max_packet_difference: Refuse a run in real time whose packets differ from the
            virtual run's by this share. Accepted: 0 to 1. Default: 0.03.
        csv: Write CSV files in addition to Parquet.
        pcap: Capture these ports (leaf0->spine1, a number, all) as pcapng. Accepted: a
            list, each text. Default: [].
        pcap_flows: Capture only the packets of these flows. Accepted: a list, each a whole
            number. Default: all.
        pcap_snap: Keep only the first BYTES of each captured packet. Accepted: a whole
            number. Default: 0.
        set: Any key of the scenario, such as `{'run.seed': 7}`.
        allow_changed_files: Repeat a run even if its input files have changed.
        out: A folder for the results. True: the next numbered one in `results`. None:
            nothing is written; `save` of the results writes them later.
        force: Replace the results in `out`.
        progress: Show progress. None: where a person sees it.

    Raises:
        ScenarioError: something given is not valid.
        Interrupted: Ctrl-C; what there is until then is its `results`.
    """
    return _session.run(
        {
            "topology": topology,
            "transport": transport,
            "program": program,
            "flows": flows,
            "seed": seed,
            "world": world,
            "against_packets": against_packets,
            "threads": threads,
            "backend": backend,
            "clock": clock,
            "max_lateness": max_lateness,
            "max_packet_difference": max_packet_difference,
            "csv": csv,
            "pcap": pcap,
            "pcap_flows": pcap_flows,
            "pcap_snap": pcap_snap,
        },
        scenario=scenario,
        set=set,
        allow_changed_files=allow_changed_files,
        out=out,
        force=force,
        progress=progress,
    )
