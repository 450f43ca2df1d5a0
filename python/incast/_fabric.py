"""Sections of a scenario below `[fabric]`."""

# Written by python/tests/declared.py from the declarations of the program; do not edit.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ._section import Section

__all__ = ["Fabric", "Failure", "Link", "Pfc", "SharedBuffer", "Storm", "Watchdog"]


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
