"""A scenario as typed objects: `Scenario(fabric=Fabric(topology="star:4"), ...)`.

Times, rates and sizes are text with a unit: `8us`, `40Gbps`, `64KiB` (KB = 1000). Hosts are
lists such as `0-7,9`. What is None is left out, and its default applies.
"""

# Written by python/tests/declared.py from the declarations of the program; do not edit.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ._fabric import Fabric, Failure, Link, Pfc, SharedBuffer, Storm, Watchdog
from ._job import Job
from ._section import Parameters, Section
from ._traffic import AllToAll, Burst, ClosedLoop, Collective, File, Incast, Long, ManyToMany, Permutation, Poisson, Program, Requests

__all__ = ["AllToAll", "Assign", "Balance", "Burst", "ClosedLoop", "Collective", "Dataplane", "Fabric", "Failure", "File", "Host", "Incast", "Job", "Link", "Long", "ManyToMany", "Output", "Permutation", "Pfc", "Poisson", "Program", "Requests", "Run", "Scenario", "SharedBuffer", "Storm", "Trace", "Transport", "Watchdog"]


@dataclass(kw_only=True)
class Trace(Section):
    """[output.trace]: Every event of some flows, ports or hosts, in `trace.parquet`. `{}` traces everything.

    Args:
        flows: Numbers of flows, such as `[7, 9]`. Accepted: a list, each a whole number.
            Default: all.
        ports: Ports as in `pcap`. Accepted: a list, each text. Default: all, or none if
            there are `hosts`.
        hosts: Hosts, such as `0-7,9`: what their transports send, receive and decide.
            Accepted: hosts such as `0-7,9`. Default: all, or none if there are `ports`.
        from_: Start of the trace. Accepted: a time such as `8us`. Default: 0s.
        until: End of the trace. Accepted: a time such as `8us`. Default: the end of the
            run.
        limit: Most events, of about 200 bytes of memory each: the first ones of the run. A
            warning tells that there were more. Accepted: 1 to 100000000. Default: 1000000.
    """

    flows: Sequence[int] | None = None
    ports: Sequence[str] | None = None
    hosts: str | None = None
    from_: str | None = None
    until: str | None = None
    limit: int | None = None


@dataclass(kw_only=True)
class Output(Section):
    """[output]: What to write.

    Args:
        csv: Write CSV files in addition to Parquet. Accepted: true or false. Default:
            false.
        pcap: Ports whose packets are captured as pcapng: `leaf0->spine1`, a number, or
            `all`. Accepted: a list, each text. Default: [].
        pcap_flows: Flows whose packets are captured, by number; without it all, and pause
            frames. Accepted: a list, each a whole number. Default: all.
        pcap_snap: Bytes kept of each captured packet, its Ethernet header included; 0 keeps
            all. 120 hold every header. Accepted: a whole number. Default: 0.
        pcap_limit: Most packets that are captured: the first ones of the run. A warning
            tells that there were more. Accepted: 1 to 100000000000. Default: 1000000.
        paths: Record how many paths each flow's packets took and how often they changed, in
            `flows.parquet`. Accepted: true or false. Default: false.
        trace: Every event of some flows, ports or hosts, in `trace.parquet`. `{}` traces
            everything. Accepted: a section [output.trace].
    """

    csv: bool | None = None
    pcap: Sequence[str] | None = None
    pcap_flows: Sequence[int] | None = None
    pcap_snap: int | None = None
    pcap_limit: int | None = None
    paths: bool | None = None
    trace: Trace | Mapping[str, Any] | None = None


@dataclass(kw_only=True)
class Dataplane(Section):
    """[dataplane]: How the data plane runs. Without effect in the simulator.

    Args:
        backend: What carries frames: `memory`, rings of this program, or `rings`, rings of
            DPDK (in a program built with the feature `dpdk`). Results are equal. Accepted:
            `memory`, `rings`. Default: memory.
        clock: Time of the run: `virtual` jumps to what is due next; `paced` is the same
            schedule, no earlier than real time; `compensated` is real time without the gaps
            in which the program did not run; `tsc` is real time, for isolated cores.
            Results are equal under the first two, and differ from run to run under the
            others. Accepted: `virtual`, `paced`, `compensated`, `tsc`. Default: virtual.
        max_lateness: A run in real time is refused if the 99.9th percentile of the lateness
            of its packets exceeds this share of the base RTT. Accepted: 0 to 1. Default:
            0.05.
        max_packet_difference: A run in real time is refused if its number of packets
            differs from that of the same run under the virtual clock by more than this
            share. Accepted: 0 to 1. Default: 0.03.
    """

    backend: Literal["memory", "rings"] | None = None
    clock: Literal["virtual", "paced", "compensated", "tsc"] | None = None
    max_lateness: float | None = None
    max_packet_difference: float | None = None


@dataclass(kw_only=True)
class Run(Section):
    """[run]: How to run.

    Args:
        seed: Seed of the random numbers. Accepted: a whole number. Default: 1.
        world: Execution environment: `sim`, the simulator, or `dataplane`, hosts and
            switches of the data plane that exchange encoded frames, in one thread. Results
            are equal unless `dataplane.clock` is real time. Or `flow`, flow level: instead
            of packets, flows share the links by max-min fairness, for first looks at many
            hosts and where only load matters. Accepted: `sim`, `dataplane`, `flow`.
            Default: sim.
        against_packets: With world `flow`: so many flows, those that start first, are run
            alone in the simulator as well, and the error of their completion times at flow
            level is in the results. Accepted: 1 to 1000000. Default: no comparison.
        threads: Number of threads, one per core by default. Does not change results.
            Accepted: 1 or more, or `auto`. Default: all cores.
        until: End of the run, even if flows are incomplete. Accepted: more than 0 and at
            most 8640000s (100 days). Default: until all flows complete, at most 100 days,
            or one hour without delivery.
        interval: Initial interval of time series, at least `1us`; doubled when there are
            more than 512. Accepted: more than 0 and at most 8640000s (100 days), or `auto`.
            Default: base RTT.
        warmup: Share of `poisson` flows excluded from statistics as warm-up, in order of
            their start. `auto`: `poisson` flows and background flows of files that start
            outside of the window in which arrivals and departures balance. Accepted: 0 to
            less than 1, or `auto`. Default: `0.1`.
        watch: Throughput is recorded for this many flows, in order of their number.
            Accepted: a whole number, or `auto`. Default: 8; 128 with several transports in
            a run.
    """

    seed: int | None = None
    world: Literal["sim", "dataplane", "flow"] | None = None
    against_packets: int | None = None
    threads: int | Literal["auto"] | None = None
    until: str | None = None
    interval: str | None = None
    warmup: float | Literal["auto"] | None = None
    watch: int | Literal["auto"] | None = None


@dataclass(kw_only=True)
class Host(Section):
    """[host]: Hosts that are not ideal.

    Args:
        send_delay: What NIC and bus take from the transport to the link, per packet: `2us`,
            `uniform:1us-3us`, `exponential:2us` (its mean), or `file:NAME`, lines of a time
            and a cumulative probability, both increasing, the last 1. Packets of a host
            leave in their order. Accepted: a time such as `2us` (at most 1s),
            `uniform:1us-3us`, `exponential:2us` or `file:NAME`. Default: 0s.
        receive_delay: The same from the link to the transport. Packets come to it in the
            order in which they arrived. Accepted: a time such as `2us` (at most 1s),
            `uniform:1us-3us`, `exponential:2us` or `file:NAME`. Default: 0s.
        coalesce_packets: The host is told of packets that have arrived (data, ACKs, grants,
            ...) once so many wait. Needs `coalesce_time`. Accepted: 2 to 65535. Default:
            however many.
        coalesce_time: The host is told of them once the first has waited for so long.
            Accepted: 1ns to 1s. Default: at once.
        stamp_resolution: Step of the clock that time stamps are taken with (`swift`,
            `timely`, `theta_powertcp`, `bolt`). Zero: they are exact. Accepted: at most
            1ms. Default: 0s.
        stamp_at: Where they are taken: in the `host`, where both delays above are measured,
            too, or in the `nic`, as packets leave and arrive. Accepted: `host`, `nic`.
            Default: host.
    """

    send_delay: str | None = None
    receive_delay: str | None = None
    coalesce_packets: int | None = None
    coalesce_time: str | None = None
    stamp_resolution: str | None = None
    stamp_at: Literal["host", "nic"] | None = None


@dataclass(kw_only=True)
class Assign(Section):
    """[[transport.assign]]: Flows assigned to one transport in every run.

    Args:
        name: The transport. Accepted: text. Required.
        hosts: Flows from these hosts only. Accepted: hosts such as `0-7,9`. Default: all.
        class_: Flows of this class only. Accepted: `background`, `long`, `request`,
            `response`, `incast`, `burst`, `collective`, `program`. Default: all.
    """

    name: str
    hosts: str | None = None
    class_: Literal["background", "long", "request", "response", "incast", "burst", "collective", "program"] | None = None


@dataclass(kw_only=True)
class Balance(Section):
    """[transport.balance]: Numbers of the routings `entropy`, `drill`, `least-queue`, `flowlet`, `conga` and `plb`.

    Args:
        entropies: Routing `entropy`: path numbers per flow. A source that chooses none
            itself draws one for each data packet; with 1 all packets of a flow take one
            path, as with `ecmp`. Accepted: 1 to 65535. Default: 64.
        samples: Routing `drill`: ports drawn at random for each packet. Accepted: 1 to 64.
            Default: 2.
        memory: Routing `drill`: ports remembered, those with the shortest queues at the
            packet before. Accepted: 0 to 64. Default: 1.
        flowlet_gap: Routings `flowlet` and `conga`: a flow that sends nothing for longer
            takes a new port. Accepted: at most 1s, or `auto`. Default: base RTT, at least
            10 packet times of a host's link.
        quantum: Routings `least-queue` and `drill`: lengths of queues are known in
            multiples of so many bytes, as those of a switch with few levels are. Accepted:
            1 to 1GB. Default: 1B.
        stale: Routings `least-queue` and `drill`: lengths of queues are read anew once they
            are so old. Zero: at each packet. Accepted: at most 1s. Default: 0s.
        plb_rounds: Routing `plb`: a flow moves to another path after so many windows of
            data in a row that told of congestion. Accepted: 1 to 1000, or `auto`. Default:
            each transport's own: `dctcp` 3, `swift` 5 to 7 at random.
        plb_share: Routing `plb`: share of a window's ACKs from which on they tell of
            congestion. Accepted: 0.01 to 1, or `auto`. Default: each transport's own:
            `dctcp` 0.5, `swift` 1.
        data_only: Routings `least-queue`, `drill`, `flowlet` and `conga`: packets without
            payload (ACKs, grants, ...) take `ecmp` instead. Accepted: true or false.
            Default: false.
        conga_period: Routing `conga`: after each such period the load of a link loses a
            share. Accepted: 1ns to 1s. Default: 50us.
        conga_decay: Routing `conga`: that share. The load is known to an eighth of what the
            link carries in a period over this share. Accepted: 0.01 to 1. Default: 0.2.
        conga_age: Routing `conga`: what a leaf told of a path counts for so long. Accepted:
            at most 1s. Default: 500us.
    """

    entropies: int | None = None
    samples: int | None = None
    memory: int | None = None
    flowlet_gap: str | None = None
    quantum: str | None = None
    stale: str | None = None
    plb_rounds: int | Literal["auto"] | None = None
    plb_share: float | Literal["auto"] | None = None
    data_only: bool | None = None
    conga_period: str | None = None
    conga_decay: float | None = None
    conga_age: str | None = None


@dataclass(kw_only=True)
class Transport(Section):
    """[transport]: The transports.

    Args:
        names: Transports to compare; `all` alone stands for every one of `incast list`.
            Each has its own run; arrivals are identical. Accepted: a list, each text.
            Required.
        routing: Load balancing of all transports. Accepted: `ecmp`, `symmetric-ecmp`,
            `spray`, `round-robin`, `source-round-robin`, `source-path`, `entropy`, `least-
            queue`, `drill`, `flowlet`, `conga`, `plb`, `paths`, or `auto`. Default: each
            transport's own.
        routings: Load balancing by transport, as in `routings.phost = "ecmp"`. Accepted: a
            table, each value `ecmp`, `symmetric-ecmp`, `spray`, `round-robin`, `source-
            round-robin`, `source-path`, `entropy`, `least-queue`, `drill`, `flowlet`,
            `conga`, `plb`, `paths`. Default: as `routing`.
        balance: Numbers of the routings `entropy`, `drill`, `least-queue`, `flowlet`,
            `conga` and `plb`. Accepted: a section [transport.balance]. Default: all
            defaults.
        paths: CSV file of fixed paths, for the routing `paths`. Its first line is
            `flow,path`, or `src,dst,path` for every flow between two hosts; a path is the
            switches in order, such as `leaf0 spine1 leaf2`. ACKs and grants take the
            reverse path. Flows that the file does not name take symmetric ECMP. Accepted:
            text.
        acks: Class of the ACKs of sender-driven transports: `data` (ACKs wait among data)
            or `control` (class 0, strictly before data). What destinations of receiver-
            driven transports send (grants, tokens, credits, pulls) keeps the class of their
            papers: it paces data, and would be another transport in a queue behind data.
            Accepted: `data`, `control`, or `auto`. Default: each transport's own.
        rto_jitter: Retransmission timers of sender-driven transports expire at random up to
            this share of the timeout late, as those of real hosts do: hosts that lost
            packets together do not retransmit together. Accepted: 0 to 1. Default: 0.
        timer_granularity: Period of the clock by which these timers expire, such as `4ms`
            (Linux with 250 Hz); each host's has its own phase. Zero: they are exact.
            Accepted: at most 1s. Default: 0s.
        join: How transports share a port. `shared`: one set of queues; each transport marks
            and drops its own packets by the total queue length. `separate`: own queues per
            transport, equal shares of the link. Accepted: `shared`, `separate`. Default:
            shared.
        marking: The transport whose marking rule applies to all ECN-capable packets, as in
            a switch with one rule per queue. Accepted: text. Default: each transport's own.
        assign: Flows assigned to one transport in every run. Accepted: a list, each a
            section [[transport.assign]]. Default: [].
        parameters: Parameters by transport, as in `[transport.parameters.ren]`; `incast
            list` shows them. Accepted: a table, each value a table, each value text, a
            number, true, false, a list, or a table. Default: the papers' values.
    """

    names: Sequence[str]
    routing: Literal["ecmp", "symmetric-ecmp", "spray", "round-robin", "source-round-robin", "source-path", "entropy", "least-queue", "drill", "flowlet", "conga", "plb", "paths", "auto"] | None = None
    routings: Mapping[str, Literal["ecmp", "symmetric-ecmp", "spray", "round-robin", "source-round-robin", "source-path", "entropy", "least-queue", "drill", "flowlet", "conga", "plb", "paths"]] | None = None
    balance: Balance | Mapping[str, Any] | None = None
    paths: str | None = None
    acks: Literal["data", "control", "auto"] | None = None
    rto_jitter: float | None = None
    timer_granularity: str | None = None
    join: Literal["shared", "separate"] | None = None
    marking: str | None = None
    assign: Sequence[Assign | Mapping[str, Any]] | None = None
    parameters: Mapping[str, Mapping[str, Any] | Parameters] | Sequence[Parameters] | None = None


@dataclass(kw_only=True)
class Scenario(Section):
    """A scenario.

    Args:
        fabric: The network. Accepted: a section [fabric]. Required.
        transport: The transports. Accepted: a section [transport]. Required.
        title: Title in tables and reports. Accepted: text. Default: derived from the other
            keys.
        traffic: The flows; all entries together, and those of `job`. Accepted: a list, each
            a section [[traffic]]. Default: none: there is a `job`.
        job: Jobs, whose ranks compute and send to each other. Accepted: a list, each a
            section [[job]]. Default: [].
        host: Hosts that are not ideal. Accepted: a section [host]. Default: hosts that take
            no time.
        run: How to run. Accepted: a section [run]. Default: all defaults.
        dataplane: How the data plane runs. Without effect in the simulator. Accepted: a
            section [dataplane]. Default: all defaults in the data plane.
        output: What to write. Accepted: a section [output]. Default: all defaults.
    """

    fabric: Fabric | Mapping[str, Any]
    transport: Transport | Mapping[str, Any]
    title: str | None = None
    traffic: Sequence[Poisson | ClosedLoop | Permutation | AllToAll | Incast | Requests | ManyToMany | Long | Burst | Collective | Program | File | Mapping[str, Any]] | None = None
    job: Sequence[Job | Mapping[str, Any]] | None = None
    host: Host | Mapping[str, Any] | None = None
    run: Run | Mapping[str, Any] | None = None
    dataplane: Dataplane | Mapping[str, Any] | None = None
    output: Output | Mapping[str, Any] | None = None
