"""A scenario as typed objects: `Scenario(fabric=Fabric(topology="star:4"), ...)`.

Times, rates and sizes are text with a unit: `8us`, `40Gbps`, `64KiB` (KB = 1000). Hosts are
lists such as `0-7,9`. What is None is left out, and its default applies.
"""

# Written by python/tests/declared.py from the declarations of the program; do not edit.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ._section import Parameters, Section

__all__ = ["AllToAll", "Assign", "Balance", "Burst", "ClosedLoop", "Collective", "Dataplane", "Fabric", "Failure", "File", "Incast", "Link", "Long", "ManyToMany", "Output", "Permutation", "Pfc", "Poisson", "Program", "Requests", "Run", "Scenario", "SharedBuffer", "Storm", "Trace", "Transport", "Watchdog"]


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
        trace: Every event of some flows, ports or hosts, in `trace.parquet`. `{}` traces
            everything. Accepted: a section [output.trace].
    """

    csv: bool | None = None
    pcap: Sequence[str] | None = None
    pcap_flows: Sequence[int] | None = None
    pcap_snap: int | None = None
    pcap_limit: int | None = None
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
class File(Section):
    """Traffic of kind `file`.

    Args:
        file: A flow file (HPCC, htsim .cm, YAPS, CSV), recognised by content. Accepted:
            text. Required.
        start_unit: What the starts of a connection matrix count: `us` or `ps`. Accepted:
            `us`, `ps`. Default: `us` if one has a fraction, else `ps`, and said.
        jitter: Each flow starts at random up to this much later: hosts are not in step.
            Accepted: a time such as `8us`. Default: 0s.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the file's, or the last queue.
    """

    _kind: ClassVar[str | None] = "file"
    file: str
    start_unit: Literal["us", "ps"] | None = None
    jitter: str | None = None
    burst: int | None = None
    priority: int | None = None


@dataclass(kw_only=True)
class Program(Section):
    """Traffic of kind `program`.

    Args:
        file: A GOAL file, of text or binary, recognised by content (docs/dialects.md).
            Accepted: text. Required.
        hosts: Hosts at which ranks can be. Accepted: hosts such as `0-7,9`. Default: all
            hosts.
        placement: At which of `hosts` the ranks are: `packed` (the first ones, in order),
            `strided:K` (every K-th, then from the second on every K-th, and so on) or
            `random` (by `run.seed`). Accepted: packed, random, or strided:K with K from 1.
            Default: packed.
        placement_file: A file with the host of each rank, numbers in the order of ranks.
            Excludes other values of `placement`. Accepted: text. Default: as `placement`
            says.
        issue: When a rank sends: `free`, when what the message waits for is done, or
            `serial`, when also the one before it at the same `nic` of the file is known to
            have arrived. Accepted: `serial`, `free`. Default: free.
        at: When the ranks begin. Accepted: a time such as `8us`. Default: 0s.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    _kind: ClassVar[str | None] = "program"
    file: str
    hosts: str | None = None
    placement: str | None = None
    placement_file: str | None = None
    issue: Literal["serial", "free"] | None = None
    at: str | None = None
    burst: int | None = None
    priority: int | None = None


@dataclass(kw_only=True)
class Collective(Section):
    """Traffic of kind `collective`.

    Args:
        collective: What the ranks want: `all_reduce` (the sum of the data of all),
            `reduce_scatter` (each a share of it), `all_gather` (the shares of all),
            `all_to_all` (each sends a share to each other) or `broadcast` (the data of
            one). Accepted: `all_reduce`, `reduce_scatter`, `all_gather`, `all_to_all`,
            `broadcast`. Required.
        size: Bytes that a rank has in the end or has to give, all shares together (as
            `size` in nccl-tests). Accepted: a size such as `64KB`. Required.
        algorithm: Who sends what to whom. `direct` is for all, `ring` for all but
            `all_to_all`, `hierarchical` for all but `broadcast`, `tree` and `double_tree`
            for `all_reduce` and `broadcast`, `halving_doubling` for `all_reduce`,
            `reduce_scatter` and `all_gather` of a power of two of ranks, `pairwise` for
            `reduce_scatter`, `all_gather` and `all_to_all`. Accepted: `ring`, `tree`,
            `double_tree`, `halving_doubling`, `direct`, `pairwise`, `hierarchical`.
            Default: `ring`; of `all_to_all`, `direct`.
        ranks: The host of each rank, in the order of ranks. Accepted: hosts such as
            `0-7,9`. Default: all hosts.
        group: Ranks of a group, which are neighbours in the order of ranks, of
            `hierarchical`. Accepted: a whole number.
        root: The rank whose data a `broadcast` sends. Accepted: a whole number. Default: 0.
        shares: Share of each rank's data that each rank gets in an `all_to_all`, in the
            order of ranks, such as the load of experts. They sum to 1. Accepted: a list,
            each a number. Default: equal.
        shares_file: A file with the shares of an `all_to_all` by rank: a line for each rank
            that sends, and in it as many numbers as `shares` has. Excludes `shares`.
            Accepted: text. Default: the same for all ranks.
        channels: Parts of the data that are exchanged at the same time, each in messages of
            its own. Accepted: 1 to 4194304. Default: 1.
        chunks: Parts of each of these that are exchanged one after the other, so that a
            rank passes one on while it gets the next. Accepted: 1 to 4194304. Default: 1.
        issue: When a rank sends: `serial`, when it has what it sends and its message of the
            step before has arrived, as over one connection; or `free`, when it has what it
            sends, so that what has gathered at a rank that was late shares its link. `free`
            with one chunk lets several threads work on a run. Accepted: `serial`, `free`.
            Default: serial.
        iterations: How often. A rank begins the next one when everything that was sent to
            it has arrived, the root of a `broadcast` when what it sent has. Accepted: 1 to
            4194304. Default: 1.
        compute: How long each rank computes before each iteration. Accepted: a time such as
            `8us`. Default: 0s.
        straggler: A rank that computes longer, by `extra`. Accepted: a whole number.
        extra: How much longer the `straggler` computes before each iteration. Accepted: a
            time such as `8us`.
        at: When the first computation begins. Accepted: a time such as `8us`. Default: 0s.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    _kind: ClassVar[str | None] = "collective"
    collective: Literal["all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"]
    size: str
    algorithm: Literal["ring", "tree", "double_tree", "halving_doubling", "direct", "pairwise", "hierarchical"] | None = None
    ranks: str | None = None
    group: int | None = None
    root: int | None = None
    shares: Sequence[float] | None = None
    shares_file: str | None = None
    channels: int | None = None
    chunks: int | None = None
    issue: Literal["serial", "free"] | None = None
    iterations: int | None = None
    compute: str | None = None
    straggler: int | None = None
    extra: str | None = None
    at: str | None = None
    burst: int | None = None
    priority: int | None = None


@dataclass(kw_only=True)
class Burst(Section):
    """Traffic of kind `burst`.

    Args:
        from_: The senders. Accepted: hosts such as `0-7,9`. Required.
        receiver: The receiver. Accepted: a whole number. Required.
        size: Bytes of a flow. Excludes `lasts`. Accepted: a size such as `64KB`.
        lasts: Duration of a flow at the rate of the host link; determines its size.
            Accepted: a time such as `8us`.
        at: When the first burst starts. Accepted: a time such as `8us`. Default: 0s.
        count: Number of bursts. Accepted: a whole number. Default: 1.
        period: Time from one burst to the next. Accepted: a time such as `8us`. Default:
            1us.
        jitter: Each flow starts at random up to this much later: hosts are not in step.
            Accepted: a time such as `8us`. Default: 0s.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    _kind: ClassVar[str | None] = "burst"
    from_: str
    receiver: int
    size: str | None = None
    lasts: str | None = None
    at: str | None = None
    count: int | None = None
    period: str | None = None
    jitter: str | None = None
    burst: int | None = None
    priority: int | None = None


@dataclass(kw_only=True)
class Long(Section):
    """Traffic of kind `long`.

    Args:
        from_: The senders. Accepted: hosts such as `0-7,9`. Required.
        to: The receivers. Accepted: hosts such as `0-7,9`. Required.
        size: Bytes of a flow. Flows without an end, also those of 1 TB and more, are no
            part of the offered load, and none is expected to complete. Accepted: a size
            such as `64KB`. Default: without an end.
        at: When the flows start. Accepted: a time such as `8us`. Default: 0s.
        until: When the applications end flows that have no end by themselves. Excludes
            `size`. Accepted: a time such as `8us`. Default: `run.until`, or when all other
            flows are complete.
        jitter: Each flow starts at random up to this much later: hosts are not in step.
            Accepted: a time such as `8us`. Default: 0s.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    _kind: ClassVar[str | None] = "long"
    from_: str
    to: str
    size: str | None = None
    at: str | None = None
    until: str | None = None
    jitter: str | None = None
    burst: int | None = None
    priority: int | None = None


@dataclass(kw_only=True)
class ManyToMany(Section):
    """Traffic of kind `many_to_many`.

    Args:
        from_: The senders. Accepted: hosts such as `0-7,9`. Required.
        to: Receivers of the first connections. Accepted: hosts such as `0-7,9`. Required.
        to_second: Receivers of the second connections. Accepted: hosts such as `0-7,9`.
            Required.
        size: Bytes of a flow. Accepted: a size such as `64KB`. Required.
        responsive: Share of responsive senders; the others stop sending after the first
            RTT. Accepted: a number from 0 to 1. Default: 1.
        at: When the flows start. Accepted: a time such as `8us`. Default: 0s.
        jitter: Each flow starts at random up to this much later: hosts are not in step.
            Accepted: a time such as `8us`. Default: 0s.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    _kind: ClassVar[str | None] = "many_to_many"
    from_: str
    to: str
    to_second: str
    size: str
    responsive: float | None = None
    at: str | None = None
    jitter: str | None = None
    burst: int | None = None
    priority: int | None = None


@dataclass(kw_only=True)
class Requests(Section):
    """Traffic of kind `requests`.

    Args:
        to: The clients. Accepted: hosts such as `0-7,9`. Required.
        from_: The servers. Accepted: hosts such as `0-7,9`. Required.
        size: Bytes that a client receives per round, from all servers together. Accepted: a
            size such as `64KB`. Required.
        request: Bytes of a request. Accepted: a size such as `64KB`. Default: 100B.
        count: Rounds of each client. Accepted: a whole number. Default: 1.
        period: Time between the last response of a round and the next round. Accepted: a
            time such as `8us`. Default: 0s.
        at: When the first round starts. Accepted: a time such as `8us`. Default: 0s.
        jitter: Each flow starts at random up to this much later: hosts are not in step.
            Accepted: a time such as `8us`. Default: 0s.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    _kind: ClassVar[str | None] = "requests"
    to: str
    from_: str
    size: str
    request: str | None = None
    count: int | None = None
    period: str | None = None
    at: str | None = None
    jitter: str | None = None
    burst: int | None = None
    priority: int | None = None


@dataclass(kw_only=True)
class Incast(Section):
    """Traffic of kind `incast`.

    Args:
        size: Bytes of a flow. Accepted: a size such as `64KB`. Required.
        receiver: The receiving host. Accepted: a whole number. Default: one of `receivers`
            for each incast.
        receivers: Hosts that may receive: each incast goes to one of them, chosen at
            random. Excludes `receiver`. Accepted: hosts such as `0-7,9`. Default: all.
        from_: The sending hosts. Excludes `senders`. Accepted: hosts such as `0-7,9`.
            Default: all others.
        senders: Number of senders, chosen at random for each incast. Accepted: a whole
            number.
        fan_in: Flows of an incast, dealt to its senders in turn: more than there are
            senders, or, without `from` and `senders`, the number of random senders if there
            are so many other hosts. Accepted: 1 to 4194304. Default: one for each sender.
        request: Bytes of a request by which the receiver asks for each flow, which starts
            when the request has arrived. Accepted: a size such as `64KB`. Default: none:
            senders start by themselves.
        at: When the flows start; of several incasts, the first, or the process of which
            they are. Accepted: a time such as `8us`. Default: 0s.
        period: Time from one incast to the next. Accepted: a time such as `8us`.
        rate: Incasts per second, at random instants. Excludes `period`. Accepted: a number
            above 0.
        load: Load of incasts at random instants: their mean rate over the rate of the links
            of all hosts that may receive. Excludes `period` and `rate`. Accepted: a number
            above 0.
        count: Number of incasts; more than one needs `period`, `rate` or `load`. Accepted:
            1 to 4194304. Default: 1.
        lasts: Time in which incasts begin, from `at` on, instead of their number. Accepted:
            a time such as `8us`.
        jitter: Each flow starts at random up to this much later: hosts are not in step.
            Accepted: a time such as `8us`. Default: 0s.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    _kind: ClassVar[str | None] = "incast"
    size: str
    receiver: int | None = None
    receivers: str | None = None
    from_: str | None = None
    senders: int | None = None
    fan_in: int | None = None
    request: str | None = None
    at: str | None = None
    period: str | None = None
    rate: float | None = None
    load: float | None = None
    count: int | None = None
    lasts: str | None = None
    jitter: str | None = None
    burst: int | None = None
    priority: int | None = None


@dataclass(kw_only=True)
class AllToAll(Section):
    """Traffic of kind `all_to_all`.

    Args:
        size: Bytes of a flow. Accepted: a size such as `64KB`. Required.
        matrix: A file with a line for each sending host and in it a number for each
            receiving one, separated by commas: the flow of this pair has so many times
            `size`; of 0 there is none. Accepted: text. Default: 1 for each pair.
        jitter: Each flow starts at random up to this much later: hosts are not in step.
            Accepted: a time such as `8us`. Default: 0s.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    _kind: ClassVar[str | None] = "all_to_all"
    size: str
    matrix: str | None = None
    jitter: str | None = None
    burst: int | None = None
    priority: int | None = None


@dataclass(kw_only=True)
class Permutation(Section):
    """Traffic of kind `permutation`.

    Args:
        size: Bytes of a flow. Accepted: a size such as `64KB`. Required.
        jitter: Each flow starts at random up to this much later: hosts are not in step.
            Accepted: a time such as `8us`. Default: 0s.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    _kind: ClassVar[str | None] = "permutation"
    size: str
    jitter: str | None = None
    burst: int | None = None
    priority: int | None = None


@dataclass(kw_only=True)
class ClosedLoop(Section):
    """Traffic of kind `closed_loop`.

    Args:
        workload: Flow sizes: a name of `incast list`, or a file. Accepted: text. Required.
        active: Flows under way at once (fewer during `pause`). Flow i follows flow i -
            `active`; a place whose flows are used up stays empty. Accepted: 1 to 4194304.
            Required.
        flows: Number of flows in all. Accepted: 1 to 4194304. Required.
        size_unit: What the sizes of a file count: `bytes`, or `packets` of 1460 B.
            Accepted: `bytes`, `packets`. Default: by the file's columns or its mean, and
            said.
        pause: Time from the end of a flow to the start of the next. Accepted: a time such
            as `8us`. Default: 0s.
        at: When the first flows start. Accepted: a time such as `8us`. Default: 0s.
        jitter: Each flow starts at random up to this much later: hosts are not in step.
            Accepted: a time such as `8us`. Default: 0s.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    _kind: ClassVar[str | None] = "closed_loop"
    workload: str
    active: int
    flows: int
    size_unit: Literal["bytes", "packets"] | None = None
    pause: str | None = None
    at: str | None = None
    jitter: str | None = None
    burst: int | None = None
    priority: int | None = None


@dataclass(kw_only=True)
class Poisson(Section):
    """Traffic of kind `poisson`.

    Args:
        workload: Flow sizes: a name of `incast list`, or a file. Accepted: text. Required.
        load: Load, as defined in the manifest. Accepted: a number above 0. Required.
        flows: Number of flows. Accepted: 1 to 4194304. Required.
        size_unit: What the sizes of a file count: `bytes`, or `packets` of 1460 B.
            Accepted: `bytes`, `packets`. Default: by the file's columns or its mean, and
            said.
        packets: Packet sizes, such as `pkt_cache_follower`. Accepted: text. Default: full
            packets.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    _kind: ClassVar[str | None] = "poisson"
    workload: str
    load: float
    flows: int
    size_unit: Literal["bytes", "packets"] | None = None
    packets: str | None = None
    burst: int | None = None
    priority: int | None = None


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
    """[transport.balance]: Numbers of the routings `entropy`, `drill`, `least-queue` and `flowlet`.

    Args:
        entropies: Routing `entropy`: path numbers per flow. A source that chooses none
            itself draws one for each data packet; with 1 all packets of a flow take one
            path, as with `ecmp`. Accepted: 1 to 65535. Default: 64.
        samples: Routing `drill`: ports drawn at random for each packet. Accepted: 1 to 64.
            Default: 2.
        memory: Routing `drill`: ports remembered, those with the shortest queues at the
            packet before. Accepted: 0 to 64. Default: 1.
        flowlet_gap: Routing `flowlet`: a flow that sends nothing for longer takes a new
            port. Accepted: at most 1s, or `auto`. Default: base RTT, at least 10 packet
            times of a host's link.
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
        data_only: Routings `least-queue`, `drill` and `flowlet`: packets without payload
            (ACKs, grants, ...) take `ecmp` instead. Accepted: true or false. Default:
            false.
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


@dataclass(kw_only=True)
class Transport(Section):
    """[transport]: The transports.

    Args:
        names: Transports to compare. Each has its own run; arrivals are identical.
            Accepted: a list, each text. Required.
        routing: Load balancing of all transports. Accepted: `ecmp`, `symmetric-ecmp`,
            `spray`, `round-robin`, `source-round-robin`, `source-path`, `entropy`, `least-
            queue`, `drill`, `flowlet`, `plb`, `paths`, or `auto`. Default: each transport's
            own.
        routings: Load balancing by transport, as in `routings.phost = "ecmp"`. Accepted: a
            table, each value `ecmp`, `symmetric-ecmp`, `spray`, `round-robin`, `source-
            round-robin`, `source-path`, `entropy`, `least-queue`, `drill`, `flowlet`,
            `plb`, `paths`. Default: as `routing`.
        balance: Numbers of the routings `entropy`, `drill`, `least-queue` and `flowlet`.
            Accepted: a section [transport.balance]. Default: all defaults.
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
    routing: Literal["ecmp", "symmetric-ecmp", "spray", "round-robin", "source-round-robin", "source-path", "entropy", "least-queue", "drill", "flowlet", "plb", "paths", "auto"] | None = None
    routings: Mapping[str, Literal["ecmp", "symmetric-ecmp", "spray", "round-robin", "source-round-robin", "source-path", "entropy", "least-queue", "drill", "flowlet", "plb", "paths"]] | None = None
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
class Storm(Section):
    """[[fabric.storms]]: Hosts whose NICs send pause frames without end.

    Args:
        host: The host. Accepted: a whole number. Required.
        at: When the NIC sends its first pause frame. Accepted: a time such as `8us`.
            Required.
        lasts: How long it goes on. Accepted: more than 0. Default: for good.
    """

    host: int
    at: str
    lasts: str | None = None


@dataclass(kw_only=True)
class Failure(Section):
    """[[fabric.failures]]: Link failures.

    Args:
        at: Time of the failure. Accepted: a time such as `8us`. Required.
        a: One end. Accepted: text. Required.
        b: The other end. Accepted: text. Required.
        repair_after: Time from the failure until the link works again, with the routes of
            before. Accepted: more than 0. Default: never.
        up_for: For a link that flaps: time from each repair until the next failure. Needs
            `times`. Accepted: more than 0.
        random: Whether `repair_after` and `up_for` are means of times that are drawn from
            exponential distributions, as those of an optic that flaps. Accepted: true or
            false. Default: false.
        times: How often the link fails. More than once needs `repair_after` and `up_for`.
            Accepted: 1 to 10000. Default: 1.
    """

    at: str
    a: str
    b: str
    repair_after: str | None = None
    up_for: str | None = None
    random: bool | None = None
    times: int | None = None


@dataclass(kw_only=True)
class Link(Section):
    """[[fabric.links]]: Overrides for single links.

    Args:
        a: One end, such as `host0` or `leaf1`. Accepted: text. Required.
        b: The other end. Accepted: text. Required.
        rate: Rate of the link. Accepted: a rate above 0.
        propagation: One-way propagation delay of the link. Accepted: a time such as `8us`.
        loss: Loss probability of the link. Accepted: 0 to less than 1.
        burst_every: Mean time between two bursts of losses, such as those of a bad cable,
            in each direction; drawn from an exponential distribution (Gilbert-Elliott
            model). Accepted: more than 0. Default: no bursts.
        burst_lasts: Mean length of a burst. Needs `burst_every`. Accepted: more than 0.
        burst_loss: Loss probability in a burst; `loss` holds between two. Accepted: 0 to 1.
            Default: 1.
    """

    a: str
    b: str
    rate: str | None = None
    propagation: str | None = None
    loss: float | None = None
    burst_every: str | None = None
    burst_lasts: str | None = None
    burst_loss: float | None = None


@dataclass(kw_only=True)
class Watchdog(Section):
    """[fabric.pfc.watchdog]: What ends pauses that last too long, at switches. `{}` sets all defaults.

    Args:
        detect: A class is stuck at a port that has been paused for so long without a break.
            Accepted: more than 0. Default: 200ms.
        restore: It is no longer once it has not been paused for so long. Accepted: more
            than 0. Default: 200ms.
        action: What becomes of packets of a class that is stuck: `drop`, or `forward` in
            spite of the pause. Accepted: `drop`, `forward`. Default: drop.
    """

    detect: str | None = None
    restore: str | None = None
    action: Literal["drop", "forward"] | None = None


@dataclass(kw_only=True)
class Pfc(Section):
    """[fabric.pfc]: Priority-based flow control (802.1Qbb): links are paused before a buffer overflows. `{}` sets all defaults.

    Args:
        classes: Lossless classes. Accepted: 0 to 7. Default: all.
        xoff: Bytes that a link may occupy in a switch, per class, before it is paused.
            Accepted: a size such as `64KB`, or `auto`. Default: `fabric.buffer`, and at
            most the threshold of a shared buffer.
        xoff_by_rate: The same for links of some rates, such as `{ "100Gbps" = "200KB" }`.
            Accepted: a table, each value a size such as `64KB`. Default: `xoff` for all.
        release: A paused link resumes when its backlog is this far below `xoff`. Accepted:
            a size such as `64KB`, or `auto`. Default: two packets.
        headroom: Buffer space for packets that arrive after a pause frame is sent. Too
            small a value is refused. Accepted: a size such as `64KB`, or `auto`. Default:
            sufficient for each link.
        alpha: Factor of the free part of a shared buffer that a link may hold per class.
            Accepted: a number above 0, or `auto`. Default: `fabric.shared_buffer.alpha`.
        alpha_by_rate: The same for links of some rates, such as `{ "100Gbps" = 0.25 }`.
            Accepted: a table, each value a number. Default: `alpha` for all.
        reserve: Bytes that a link may hold per class apart from `xoff` and a shared buffer.
            Accepted: a size such as `64KB`. Default: 0B.
        reserve_by_rate: The same for links of some rates, such as `{ "100Gbps" = "12KB" }`.
            Accepted: a table, each value a size such as `64KB`. Default: `reserve` for all.
        headroom_in_pool: Headroom and reserves are part of `fabric.shared_buffer.pool`, not
            in addition to it. Accepted: true or false. Default: false.
        allow_cycles: Run even if a cyclic buffer dependency makes a PFC deadlock possible.
            Accepted: true or false. Default: false.
        watchdog: What ends pauses that last too long, at switches. `{}` sets all defaults.
            Accepted: a section [fabric.pfc.watchdog]. Default: nothing.
    """

    classes: Sequence[int] | None = None
    xoff: str | None = None
    xoff_by_rate: Mapping[str, str] | None = None
    release: str | None = None
    headroom: str | None = None
    alpha: float | Literal["auto"] | None = None
    alpha_by_rate: Mapping[str, float] | None = None
    reserve: str | None = None
    reserve_by_rate: Mapping[str, str] | None = None
    headroom_in_pool: bool | None = None
    allow_cycles: bool | None = None
    watchdog: Watchdog | Mapping[str, Any] | None = None


@dataclass(kw_only=True)
class SharedBuffer(Section):
    """[fabric.shared_buffer]: One shared buffer per switch instead of one buffer per port.

    Args:
        pool: Buffer size of each switch. Accepted: 2KB or more. Required.
        alpha: Factor alpha of the dynamic threshold. Accepted: a number above 0. Default:
            1.
    """

    pool: str
    alpha: float | None = None


@dataclass(kw_only=True)
class Fabric(Section):
    """[fabric]: The network.

    Args:
        topology: A topology of `incast list`, such as `leaf-spine:8x8x8`, or with names and
            rates `leaf-spine:leaves=8,spines=100Gbps*8,hosts=25Gbps*8`. Excludes `file`.
            Accepted: text.
        file: A topology file of another tool (HPCC, htsim .topo), recognised by content.
            Accepted: text.
        nic: Which NIC a flow takes of servers with several: `hash` (each end at random),
            `round_robin` (each server's flows in turn), or `plane` (the same number at both
            ends, in turn). Accepted: `hash`, `round_robin`, `plane`. Default: `hash` where
            servers have several.
        hosts_forward: Whether hosts of `file` that have several links forward, as in BCube,
            each by a switch on its board. Without this key only hosts of files that link
            hosts to each other do; others are servers with a NIC for each link. Accepted:
            true or false. Default: false.
        rate: Rate of links. Not allowed with `file`. Accepted: a rate above 0, or `auto`.
            Default: 40Gbps.
        propagation: One-way propagation delay of a link. Not allowed with `file`. Accepted:
            a time such as `8us`, or `auto`. Default: 1us.
        uplink_rate: Rate of links between switches. Accepted: a rate above 0, or `auto`.
            Default: as `rate`, or by `oversubscription`.
        core_rate: Rate of links between aggregation and core switches of a `clos`.
            Accepted: a rate above 0. Default: as `uplink_rate`.
        uplink_propagation: One-way propagation delay of links between switches. Accepted: a
            time such as `8us`, or `auto`. Default: as `propagation`.
        oversubscription: Ratio of host capacity to uplink capacity of an edge switch.
            Accepted: a number above 0.
        loss: Probability that a link loses a packet. Accepted: 0 to less than 1. Default:
            0.
        buffer: Buffer of a switch port, in bytes (a full packet or more) or packets.
            Accepted: a size such as `128KiB`, `<n>packets` or `unlimited`. Default: 128KiB.
        queues: Queues of data at every port of a switch, and how they are served:
            `["strict", 3, 1]` serves the first before all others, and these by weights, in
            bytes. Flows are in the one of their `priority` (class 1 is the first), in a
            host as well. ECN thresholds and `buffer` are those of each queue. Only for
            transports that need one class of data, and no grants. Accepted: a list, each
            `strict` or a weight. Default: one.
        shared_buffer: One shared buffer per switch instead of one buffer per port.
            Accepted: a section [fabric.shared_buffer].
        pfc: Priority-based flow control (802.1Qbb): links are paused before a buffer
            overflows. `{}` sets all defaults. Accepted: a section [fabric.pfc].
        mtu: Largest packet at the network layer, in bytes. Whatever is given in full
            packets or derived from one (bandwidth-delay products, credit shares, token
            times) follows it. Accepted: 128 to 65000. Default: 1500.
        data_header: Headers of a data packet in bytes, within `mtu`. Links charge this
            size; on the wire (pcapng, data plane) headers take 40 B. Accepted: 0 to 1000.
            Default: 40.
        control_packet: A packet without payload - ACK, grant, credit, token, pull, pause,
            trimmed header - in bytes at the network layer, without what a transport adds.
            Links charge this size; on the wire (pcapng, data plane) it is 40 B. Accepted: 1
            to 60000. Default: 40.
        l2_overhead: Bytes that a link charges for a packet beyond the network layer; `true`
            is Ethernet's 38 (preamble, header, check sequence, gap), `false` is 0.
            Accepted: 0 to 255. Default: 38.
        min_frame: Smallest number of bytes that a link charges for a packet. Accepted: 0 to
            60000, or `auto`. Default: 46 and `l2_overhead` (84 with Ethernet's), 0 without
            `l2_overhead`.
        pad_last: Whether the last packet of a flow is padded to a full packet, instead of
            sent at its own size. Not with `packets` of `poisson`. Accepted: true or false.
            Default: false.
        forwarding: How switches forward packets: `store_and_forward`, or `cut_through`,
            which begins when a packet's first bytes have arrived if the egress is idle and
            no faster than the link by which the packet arrives, and stores it otherwise.
            Accepted: `store_and_forward`, `cut_through`. Default: store_and_forward.
        cut_through_bytes: Bytes of a packet, as links charge them, that a switch reads
            before it cuts through. Accepted: 1 to 65000. Default: 64.
        switch_delay: Time between the arrival of a packet at a switch and the earliest
            start of its transmission there. Counts as propagation. Accepted: at most 1s.
            Default: 0s.
        host_delay: Time between the arrival of a packet at a host and its delivery to the
            transport. Counts as propagation. Accepted: at most 1s. Default: 0s.
        base_rtt: The base RTT that transports are configured with. Nodes that are processes
            of their own measure it where it is not set. Accepted: more than 0, such as
            `10us`, or `auto`. Default: computed.
        links: Overrides for single links. Accepted: a list, each a section
            [[fabric.links]]. Default: [].
        failures: Link failures. Accepted: a list, each a section [[fabric.failures]].
            Default: [].
        storms: Hosts whose NICs send pause frames without end. Accepted: a list, each a
            section [[fabric.storms]]. Default: [].
    """

    topology: str | None = None
    file: str | None = None
    nic: Literal["hash", "round_robin", "plane"] | None = None
    hosts_forward: bool | None = None
    rate: str | None = None
    propagation: str | None = None
    uplink_rate: str | None = None
    core_rate: str | None = None
    uplink_propagation: str | None = None
    oversubscription: float | None = None
    loss: float | None = None
    buffer: str | None = None
    queues: Sequence[int | Literal["strict"]] | None = None
    shared_buffer: SharedBuffer | Mapping[str, Any] | None = None
    pfc: Pfc | Mapping[str, Any] | None = None
    mtu: int | None = None
    data_header: int | None = None
    control_packet: int | None = None
    l2_overhead: int | bool | None = None
    min_frame: int | Literal["auto"] | None = None
    pad_last: bool | None = None
    forwarding: Literal["store_and_forward", "cut_through"] | None = None
    cut_through_bytes: int | None = None
    switch_delay: str | None = None
    host_delay: str | None = None
    base_rtt: str | None = None
    links: Sequence[Link | Mapping[str, Any]] | None = None
    failures: Sequence[Failure | Mapping[str, Any]] | None = None
    storms: Sequence[Storm | Mapping[str, Any]] | None = None


@dataclass(kw_only=True)
class Scenario(Section):
    """A scenario.

    Args:
        fabric: The network. Accepted: a section [fabric]. Required.
        transport: The transports. Accepted: a section [transport]. Required.
        traffic: The flows; all entries together. Accepted: a list, each a section
            [[traffic]]. Required.
        title: Title in tables and reports. Accepted: text. Default: derived from the other
            keys.
        run: How to run. Accepted: a section [run]. Default: all defaults.
        dataplane: How the data plane runs. Without effect in the simulator. Accepted: a
            section [dataplane]. Default: all defaults in the data plane.
        output: What to write. Accepted: a section [output]. Default: all defaults.
    """

    fabric: Fabric | Mapping[str, Any]
    transport: Transport | Mapping[str, Any]
    traffic: Sequence[Poisson | ClosedLoop | Permutation | AllToAll | Incast | Requests | ManyToMany | Long | Burst | Collective | Program | File | Mapping[str, Any]]
    title: str | None = None
    run: Run | Mapping[str, Any] | None = None
    dataplane: Dataplane | Mapping[str, Any] | None = None
    output: Output | Mapping[str, Any] | None = None
