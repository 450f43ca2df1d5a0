"""Kinds of traffic of a scenario."""

# Written by python/tests/declared.py from the declarations of the program; do not edit.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ._section import Section

__all__ = ["AllToAll", "Burst", "ClosedLoop", "Collective", "File", "Incast", "Long", "ManyToMany", "Permutation", "Poisson", "Program", "Requests"]


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
        file: A file of GOAL, text or binary, a workload of SimAI, or a trace of Chakra, of
            which it names one rank's file (docs/dialects.md). Accepted: text. Required.
        hosts: Hosts at which ranks can be. Accepted: hosts such as `0-7,9`. Default: all
            hosts.
        placement: At which of `hosts` the ranks are: `packed` (the first ones, in order),
            `strided:K` (every K-th, then from the second on every K-th, and so on),
            `random` (by `run.seed`) or `rail_aligned:K` (as in `[[job]]`). Accepted:
            packed, random, strided:K or rail_aligned:K with K from 1, or rail_aligned.
            Default: packed.
        placement_file: A file with the host of each rank, numbers in the order of ranks.
            Excludes other values of `placement`. Accepted: text. Default: as `placement`
            says.
        issue: When a rank sends: `free`, when what the message waits for is done, or
            `serial`, when also the one before it at the same `nic` of the file is known to
            have arrived. Accepted: `serial`, `free`. Default: free.
        connection: What is sent over one connection: `message` (each message begins as a
            flow of its own), `pair` (all that one host sends another: windows, rates and
            measured times live on from a message to the next, and all take one path) or
            `pair_channel` (the same for each `nic` of the file). Only for transports whose
            sources append messages. Accepted: `message`, `pair`, `pair_channel`. Default:
            message.
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
    connection: Literal["message", "pair", "pair_channel"] | None = None
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
        connection: What is sent over one connection: `message` (each message begins as a
            flow of its own), `pair` (all that one host sends another: windows, rates and
            measured times live on from a message to the next, and all take one path) or
            `pair_channel` (the same for each of the `channels`). Only for transports whose
            sources append messages. Accepted: `message`, `pair`, `pair_channel`. Default:
            message.
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
    connection: Literal["message", "pair", "pair_channel"] | None = None
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
        load: Share of the ToR uplinks' rate that the flows take on the wire; of the host
            links' rate where uplinks are no bottleneck. The run says of which, the manifest
            how it is counted. Accepted: a number above 0, at most 10; 0.6 is 60 %.
            Required.
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
