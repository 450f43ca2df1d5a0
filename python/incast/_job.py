"""Jobs of a scenario."""

# Written by python/tests/declared.py from the declarations of the program; do not edit.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ._section import Section

__all__ = ["Job"]


@dataclass(kw_only=True)
class Job(Section):
    """[[job]]: Jobs, whose ranks compute and send to each other.

    Args:
        name: What results call it. Accepted: text. Default: `job0`, `job1` and so on.
        program: A file that says what each rank does in an iteration: GOAL, a workload of
            SimAI, or a trace of Chakra, as `file` of traffic of kind `program`. Excludes
            `collective`. Accepted: text.
        collective: What the ranks want in an iteration, as `collective` of traffic of kind
            `collective`. Excludes `program`. This key and the next seven mean what they
            mean there. Accepted: `all_reduce`, `reduce_scatter`, `all_gather`,
            `all_to_all`, `broadcast`.
        algorithm: Who sends what to whom in a collective. Accepted: `ring`, `tree`,
            `double_tree`, `halving_doubling`, `direct`, `pairwise`, `hierarchical`.
            Default: `ring`; of `all_to_all`, `direct`.
        size: Bytes of a collective, which needs them. Accepted: a size such as `64KB`.
        group: Ranks of a group of `hierarchical`. Accepted: a whole number. Default:
            `server`, if that is more than 1.
        root: The rank whose data a `broadcast` sends. Accepted: a whole number. Default: 0.
        shares: Share of each rank's data that each rank gets in an `all_to_all`. Accepted:
            a list, each a number. Default: equal.
        channels: Parts of a collective's data that are exchanged at the same time.
            Accepted: 1 to 4194304. Default: 1.
        chunks: Parts of each of these that are exchanged one after the other. Accepted: 1
            to 4194304. Default: 1.
        ranks: Number of ranks of a collective. Those of a program are the file's. Accepted:
            2 to 4194304. Default: as many as `placement_file` lists, or as there are
            `hosts`.
        hosts: Hosts at which ranks can be. With `packed`, and as many as there are ranks,
            the list of the ranks' hosts. Accepted: hosts such as `0-7,9`. Default: all
            hosts.
        placement: At which of `hosts` the ranks are: `packed` (the first ones, in order),
            `strided:K` (every K-th, then from the second on every K-th, and so on),
            `random` (by `run.seed` and the number of the job), or `rail_aligned:K`, for
            servers of K ranks, of which the i-th is on rail i: a rail is a rack of hosts,
            and each server takes the next host of each rail. `rail_aligned` alone takes all
            rails. Accepted: packed, random, strided:K or rail_aligned:K with K from 1, or
            rail_aligned. Default: packed.
        placement_file: A file with the host of each rank, numbers in the order of ranks.
            Excludes other values of `placement`. Accepted: text. Default: as `placement`
            says.
        share: Whether ranks of other jobs that say the same may be at its hosts. They share
            the NIC; each computes as if alone. Accepted: true or false. Default: false.
        server: Ranks of a server, neighbours in the order of ranks. What they send each
            other does not take the network. In the simulator only. Accepted: 1 to 65536.
            Default: 1.
        local_rate: Rate at which a rank sends within its server, one message after the
            other, and at which it receives. Needed where `server` is more than 1. Accepted:
            a rate above 0.
        local_latency: How long a message within a server takes in addition. Accepted: a
            time such as `8us`. Default: 0s.
        at: When the first iteration begins. Accepted: a time such as `8us`. Default: 0s.
        iterations: How often. A rank begins the next iteration when it has done all of this
            one; of a collective without `server`, when everything that was sent to it has
            arrived. Accepted: 1 to 4194304. Default: 1.
        compute: How long each rank computes before each iteration; of a program, and of
            servers, to a whole nanosecond. Accepted: a time such as `8us`. Default: 0s.
        compute_scale: All computations of the job take so many times as long, `compute` and
            those of the program. Accepted: 0 to 1000000. Default: 1.
        straggler: A rank that computes longer, by `extra`. Accepted: a whole number.
        extra: How much longer the `straggler` computes before each iteration, whatever
            `compute_scale` is. Accepted: a time such as `8us`.
        issue: When a rank sends: `serial` or `free`, as in traffic of kind `collective` and
            of kind `program`. With `server` a rank that sends in turn waits until it knows
            that the message before has arrived. Accepted: `serial`, `free`. Default:
            `serial` of a collective without `server`, else `free`.
        connection: What is sent over one connection: `message` (each message begins as a
            flow of its own), `pair` (all that one host sends another: windows, rates and
            measured times live on from a message to the next, and all take one path) or
            `pair_channel` (the same for each of the `channels`, of a program for each `nic`
            of its file). Only for transports whose sources append messages. Accepted:
            `message`, `pair`, `pair_channel`. Default: message.
        burst: Packets that each flow may send before its source hears from its destination:
            the first burst of a receiver-driven transport, the initial window of another.
            Accepted: 1 to 1000000. Default: as the transport has it.
        priority: The queue of data (`fabric.queues`) that its flows are in, the first one
            is 1. Accepted: 1 to 7. Default: the last queue.
    """

    name: str | None = None
    program: str | None = None
    collective: Literal["all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"] | None = None
    algorithm: Literal["ring", "tree", "double_tree", "halving_doubling", "direct", "pairwise", "hierarchical"] | None = None
    size: str | None = None
    group: int | None = None
    root: int | None = None
    shares: Sequence[float] | None = None
    channels: int | None = None
    chunks: int | None = None
    ranks: int | None = None
    hosts: str | None = None
    placement: str | None = None
    placement_file: str | None = None
    share: bool | None = None
    server: int | None = None
    local_rate: str | None = None
    local_latency: str | None = None
    at: str | None = None
    iterations: int | None = None
    compute: str | None = None
    compute_scale: float | None = None
    straggler: int | None = None
    extra: str | None = None
    issue: Literal["serial", "free"] | None = None
    connection: Literal["message", "pair", "pair_channel"] | None = None
    burst: int | None = None
    priority: int | None = None
