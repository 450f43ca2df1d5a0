"""Parameters of transports as typed objects: `Ren(spend="any")`.

They go into `Transport(parameters=[...])`, or into `set` of `incast.compare` and `incast.run`.
"""

# Written by python/tests/declared.py from the declarations of the program; do not edit.

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ._section import Parameters

__all__ = ["Aeolus", "Amrt", "Bolt", "Ccrp", "Cubic", "Dcpim", "Dcqcn", "Dctcp", "Decn", "Eqds", "Expresspass", "Fasttune", "Homa", "Hpcc", "HpccPlus", "Mlcp", "Ndp", "None_", "Pfabric", "Phost", "Powertcp", "Rcp", "Ren", "Sird", "Swift", "ThetaPowertcp", "Timely", "Trd", "Uec", "Vcp", "Xcp"]


@dataclass(kw_only=True)
class Aeolus(Parameters):
    """aeolus: Aeolus on Homa (Hu et al., Aeolus: A building block for proactive transport in
    datacenters, SIGCOMM 2020).

    Args:
        threshold: Queue length up to which an unscheduled packet is admitted, in packets.
            Accepted: 0 to 1000000 packets. Default: 4. Source: SIGCOMM 2020: 6 KB, four
            packets of 1500 B.
        threshold_of: Queue that the threshold is compared with: all data at the port, or
            the packet's class. Accepted: port or class. Default: class. Source: SIGCOMM
            2020: RED on the queue that a packet joins; with Homa's classes, its class.
        grace: Time after a probe's arrival until missing packets count as lost; auto: a
            base RTT, because packets are sprayed; 0ns without reordering. Accepted: 0ns to
            10s, or auto. Default: auto. Source: ours: the paper has single paths.
        probe_timeout: Time after which a probe without a reply is repeated; auto: a base
            RTT and the drain time of a full buffer, at least 3 base RTT. Accepted: 1ns to
            10s, or auto. Default: auto. Source: ours: the paper loses no probe.
        host_burst: Most unscheduled packets in flight of all flows of a host; auto: only
            the limit per flow, RTTbytes. Accepted: 0 to 1000000 packets, or auto. Default:
            auto. Source: SIGCOMM 2020: a budget for each flow.
        rtt_bytes: Payload bytes that a message sends unscheduled and may have in flight,
            rounded up to packets; auto: one RTT. Accepted: 1B to 1GB, or auto. Default:
            auto. Source: Homa §3.2: RTTbytes, 9.7 KB at 10 Gb/s.
        priorities: Service classes of a port; class 0 is left to control packets. Accepted:
            2 to 8. Default: 8. Source: Homa §3.4.
        scheduled: Levels for scheduled packets, the rest is for unscheduled ones; auto: by
            the share of unscheduled bytes in the sizes of the run, or by the cutoffs given.
            Accepted: 1 to 6 and below priorities - 1, or auto. Default: auto. Source: Homa
            §3.4; 4 of 8 in the Linux module when sizes are unknown.
        overcommitment: Messages granted at a time (degree of overcommitment); auto: the
            number of scheduled levels. Accepted: 1 to 64, or auto. Default: auto. Source:
            Homa §3.5.
        one_per_sender: Whether only one message of each sender is granted at a time.
            Accepted: true or false. Default: true. Source: authors' simulator: SenderState.
        unscheduled: What decides the class of an unscheduled packet: graduated or size.
            Accepted: graduated or size. Default: graduated. Source: authors' simulator:
            STATIC_CBF_GRADUATED.
        cutoffs: Sizes up to which unscheduled packets have the best class, the next one and
            so on; auto: equal shares of unscheduled bytes. Accepted: 1 to 6 sizes in
            ascending order, or auto. Default: auto. Source: Homa §3.4: from the sizes of
            the run.
        levels: Which scheduled levels few messages use: lowest or fixed. Accepted: lowest
            or fixed. Default: lowest. Source: Homa §3.4: lowest; authors' simulator: fixed.
        boost_tail: Whether the last RTTbytes of a message get an unscheduled class if that
            is better. Accepted: true or false. Default: true. Source: authors' simulator:
            boostTailBytesPrio = RTTbytes.
        max_incoming: Scheduled payload bytes that may be in flight to a host; auto:
            overcommitment x RTTbytes. Accepted: 1B to 1GB, or auto. Default: auto. Source:
            Homa §3.5: buffers needed; Linux module: max_incoming = 400 kB.
        resend_interval: Time without progress after which missing packets are requested;
            auto: 20 base RTT, 1ms at least. Accepted: 1ns to 10s, or auto. Default: auto.
            Source: Homa §3.7: a few milliseconds.
        resend: What is requested then: all or first. Accepted: all or first. Default: all.
            Source: Homa §3.7: the first range; Linux module: all.
        give_up: Requests without a reply after which a message is set aside. Accepted: 1 to
            1000. Default: 5. Source: Linux module.
        link_check: Idle time of the downlink, in bytes, after which one more message is
            granted; 0: never. Accepted: 0B to 1MB. Default: 0B. Source: authors' simulator:
            linkCheckBytes, off.
        buffer: Buffer of a port, all data classes together; auto: that of the scenario.
            Accepted: a full packet to 1GB, or auto. Default: auto. Source: authors'
            simulator: very large; REN: 64 and 128 KB.
    """

    _transport: ClassVar[str] = "aeolus"
    threshold: Any = None
    threshold_of: Any = None
    grace: Any = None
    probe_timeout: Any = None
    host_burst: Any = None
    rtt_bytes: Any = None
    priorities: Any = None
    scheduled: Any = None
    overcommitment: Any = None
    one_per_sender: Any = None
    unscheduled: Any = None
    cutoffs: Any = None
    levels: Any = None
    boost_tail: Any = None
    max_incoming: Any = None
    resend_interval: Any = None
    resend: Any = None
    give_up: Any = None
    link_check: Any = None
    buffer: Any = None


@dataclass(kw_only=True)
class Amrt(Parameters):
    """amrt: AMRT: anti-ECN marking receiver-driven transport (ICPP 2020).

    Args:
        data_packets: Most data packets queued at a port. Accepted: 1 and more. Default: 8.
            Source: AMRT §6.
        control_packets: Most grants and finishes queued at a port. Accepted: 1 and more.
            Default: 128. Source: AMRT §2.1, §8.1: the switch buffer of the other schemes.
        at_nics: Whether NICs clear the mark as switch ports do; their queues have no limit.
            Accepted: true or false. Default: true. Source: AMRT §4.1 has switches only;
            ns-2 (AMRT §8) marks in every link's queue.
        gap_after: Where the gap before a data packet begins: after the last data packet, or
            after the last packet of any kind. Accepted: any, data. Default: data. Source:
            AMRT §3: the time between two consecutive data packets; AMRT §4.1 has packets.
        burst: Packets sent without a grant when a flow starts; auto: one bandwidth-delay
            product. Accepted: auto, or 1 and more. Default: auto. Source: AMRT §6, §7: line
            rate in the first RTT.
        recovery: When granted data counts as lost: passed or paper. Accepted: passed,
            paper. Default: passed. Source: AMRT §6 starts the timeout at the grant (paper),
            which counts data in a NIC as lost.
        losses: With `recovery = passed`, a lost packet: named in the next grant (a burst's
            tail one by one, or all at once), or granted beside it. Accepted: named,
            tail_reissued, granted_reissued, reissued. Default: tail_reissued. Source: AMRT
            §6: a timeout for each packet, and the receiver reissues a grant for the lost
            packet.
        timeout: The timeout; auto: base RTT + two data queues per hop (16 base RTT at most)
            + 1us. Accepted: auto, or more than 0. Default: auto. Source: AMRT §6 says 1
            RTT, which a full 8-packet queue already exceeds.
        strict_1rtt: Whether the timeout is exactly one base RTT, as the paper says.
            Accepted: true or false. Default: false. Source: AMRT §6.
    """

    _transport: ClassVar[str] = "amrt"
    data_packets: Any = None
    control_packets: Any = None
    at_nics: Any = None
    gap_after: Any = None
    burst: Any = None
    recovery: Any = None
    losses: Any = None
    timeout: Any = None
    strict_1rtt: Any = None


@dataclass(kw_only=True)
class Bolt(Parameters):
    """bolt: Bolt (Arslan et al., Bolt: Sub-RTT Congestion Control for Ultra-Low Latency, NSDI
    2023).

    Args:
        set: Values of several parameters under one name. Parameters given beside it keep
            their given values. Accepted: fabric, authors. Default: fabric. Source: listed
            with each set.
        threshold: Queue from which on a switch tells sources and spares nothing
            (CC_THRESH); auto: two full packets. Accepted: auto, or 1B to 1GB. Default:
            auto. Source: authors' simulator: 10 KB at 5000 B, 3 KB at 1500 B; the paper:
            about one packet.
        spare_limit: Most unused capacity of a link that is kept for a later packet (SM);
            auto: one full packet. Accepted: auto, or 1B to 1GB. Default: auto. Source: the
            paper and the authors' runs: one MTU.
        ending_limit: Most packets of ending flows that are kept for others (PRU). Accepted:
            0 to 1000000 packets. Default: 256. Source: authors' simulator: 256.
        window: First and largest window, in payload bytes; auto: the packets of a BDP.
            Accepted: auto, or 1B to 1GB. Default: auto. Source: authors' simulator: a BDP,
            62420 B at 100 Gb/s and 13092 B at 10 Gb/s.
        min_window: Least window, in payload bytes. Accepted: 1B to 1GB. Default: 15B.
            Source: authors' simulator: 15 B.
        decrease: Share that a loss takes, and a notice of a window of a packet or less
            (max_md). Accepted: more than 0, below 1. Default: 0.5. Source: authors'
            simulator: 0.5.
        target_queue: Queue that notices let stand. Accepted: 0B to 1GB. Default: 0B.
            Source: authors' simulator: 0.
        probe: Whether one packet of each round trip raises the window whatever switches say
            (AI). Accepted: true or false. Default: true. Source: authors' simulator: on.
        notices: Whether switches send notices back to sources (SRC). Accepted: true or
            false. Default: true. Source: false: an ablation.
        spare: Whether windows grow where links have unused capacity (SM). Accepted: true or
            false. Default: true. Source: false: an ablation.
        endings: Whether windows grow where flows are about to end (PRU). Accepted: true or
            false. Default: true. Source: false: an ablation.
        nack_interval: Least time between two requests to go back for the same byte; at
            least two base RTTs. Accepted: more than 0. Default: 100us. Source: own choice:
            the authors' simulator asks with each packet out of order.
        rto_min: Least retransmission timeout; auto: 1 ms, at least eight RTTs. Accepted:
            auto, or more than 0, at most 60s. Default: auto. Source: own choice; authors'
            simulator: 10 ms, at most five.
        control_limit: Most bytes of ACKs and notices queued at a port. Accepted: a control
            packet and more. Default: 128KiB. Source: own choice: as REN's.
    """

    _transport: ClassVar[str] = "bolt"
    set: Any = None
    threshold: Any = None
    spare_limit: Any = None
    ending_limit: Any = None
    window: Any = None
    min_window: Any = None
    decrease: Any = None
    target_queue: Any = None
    probe: Any = None
    notices: Any = None
    spare: Any = None
    endings: Any = None
    nack_interval: Any = None
    rto_min: Any = None
    control_limit: Any = None


@dataclass(kw_only=True)
class Ccrp(Parameters):
    """ccrp: CCRP (Bai et al., CCRP: Converging Credit-Based and Reactive Protocols in Datacenters,
    NPC 2020).

    Args:
        set: Values of several parameters under one name. Parameters given beside it keep
            their given values. Accepted: paper, group_40_100, group_200_500, steps_5_50.
            Default: paper. Source: listed with each set.
        initial_rate: First credit rate, as a share of the largest. Accepted: 0 <
            initial_rate <= 1. Default: 1. Source: CCRP §3.2: starts high; no value given.
        omega_max: Largest aggressiveness omega. Accepted: 0 < omega_max <= 1. Default:
            0.06. Source: CCRP §3.3: 0.06, suitable 0.04 to 0.07.
        omega_min: Least aggressiveness after a loss of credits. Accepted: 0 < omega_min <=
            1. Default: 0.01. Source: ExpressPass: 0.01; not restated.
        omega_guard: Whether only the second increase in a row raises omega, as in
            ExpressPass. Accepted: true or false. Default: false. Source: off in CCRP
            Algorithm 1, line 13.
        target_loss: Credit loss up to which the rate increases. Accepted: 0 to 1. Default:
            0. Source: CCRP §3.3: 0.
        target_ecn_ratio: Target share of marked packets. Accepted: 0 to 1. Default: 0.
            Source: CCRP §3.3: 0.
        ratio_test: Whether a share equal to the target cuts the rate. Accepted: above or
            at_least. Default: above. Source: CCRP Algorithm 1, line 5 has >=, which always
            cuts with a target of 0.
        gain: Weight g of an RTT in the average of marks. Accepted: 0 < gain <= 1. Default:
            0.0625. Source: not given; 1/16 as in DCTCP.
        dcqcn: Recovery of the rate after a cut. Accepted: recovery, strict_text, listing or
            off. Default: recovery. Source: CCRP §3.2: after RTTs without a mark; Algorithm
            1, lines 8-10, stands in the branch of line 5.
        clean_rtts: RTTs without a mark after which reactive traffic counts as absent.
            Accepted: 1 to 1000000. Default: 5. Source: CCRP §3.2: several.
        target_follows: Whether the recovery's target follows a rate above it. Accepted:
            true or false. Default: false. Source: DCQCN §3.1: the target is the rate before
            the cut; the NUDT model: it follows.
        fast_recovery: Increases of each kind before additive increase. Accepted: 0 to 1000.
            Default: 5. Source: DCQCN §3.1: F = 5.
        byte_counter: Payload bytes between two increases. Accepted: 1B and more. Default:
            10MB. Source: DCQCN §5.2: 10 MB.
        timer: Time between two increases, in addition to an RTT. Accepted: 0 and more.
            Default: 5us. Source: the NUDT model: RTT + 5 us.
        additive_increase: Additive increase, as a data rate. Accepted: 1bps and more.
            Default: 40Mbps. Source: not given; DCQCN §5.2: 40 Mb/s of data, 84/1538 of it
            in credits.
        hyper_increase: Hyper increase, as a data rate. Accepted: 1bps and more. Default:
            400Mbps. Source: not given; ten times the additive, as DCQCN's.
        mark_min: Queue up to which no data is marked (Kmin). Accepted: any size. Default:
            5KB. Source: CCRP §3.4: 5 KB.
        mark_max: Queue from which all data is marked (Kmax). Accepted: 1B and more.
            Default: 200KB. Source: CCRP §3.4: 200 KB.
        mark_probability: Probability of a mark just below Kmax (Pmax). Accepted: 0 to 1.
            Default: 0.01. Source: not given; DCQCN §5.2: 1 %.
        mark_by_rate: RED profiles (Kmin/Kmax/Pmax) of ports with these rates; others have
            the values above. Accepted: none, or profiles by rate such as
            10Gbps=5KB/200KB/0.01. Default: none. Source: as DCQCN's.
        jitter: Largest deviation of the time between credits, as a share of it. Accepted: 0
            <= jitter < 1. Default: 0.1. Source: as ExpressPass.
        size_jitter: Whether the length of credits varies, from 84 to 100 charged bytes.
            Accepted: true or false. Default: false. Source: as ExpressPass.
        credit_share: Share of a link for credits; auto: the share whose data fills the rest
            of the link, 84/1622 with Ethernet, with `size_jitter` 92/1630. Accepted: 0 <
            share <= 1, such that the data of the credits fits the link (0.0546, 84/1538,
            with Ethernet), or auto. Default: auto. Source: CCRP §3.4: 5 %, a rounded 84 /
            (84 + 1538).
        reserve: Whether the credits' share of a link is reserved for them even when there
            are few credits. Accepted: true or false. Default: false. Source: CCRP §3.4:
            data has 95 % of a link, also in a mix.
        credit_queue: Most credits queued at a port. Accepted: 1 to 10000 credits. Default:
            8. Source: as ExpressPass.
        bucket: Depth of a port's token bucket, in credits. Accepted: 1 to 10000 credits.
            Default: 2. Source: as ExpressPass.
        early_stop: Whether a source stops credits as soon as those in flight suffice.
            Accepted: true or false. Default: true. Source: as ExpressPass.
        retransmit_timeout: Time after which a request without a reply is repeated; auto:
            0.1 ms, at least 2 base RTT. Accepted: 1us to 1s, or auto. Default: auto.
            Source: as ExpressPass.
        missing_timeout: Time after which missing data is requested again. Accepted: 1us to
            1s. Default: 1ms. Source: not given: reactive traffic can cause data loss.
    """

    _transport: ClassVar[str] = "ccrp"
    set: Any = None
    initial_rate: Any = None
    omega_max: Any = None
    omega_min: Any = None
    omega_guard: Any = None
    target_loss: Any = None
    target_ecn_ratio: Any = None
    ratio_test: Any = None
    gain: Any = None
    dcqcn: Any = None
    clean_rtts: Any = None
    target_follows: Any = None
    fast_recovery: Any = None
    byte_counter: Any = None
    timer: Any = None
    additive_increase: Any = None
    hyper_increase: Any = None
    mark_min: Any = None
    mark_max: Any = None
    mark_probability: Any = None
    mark_by_rate: Any = None
    jitter: Any = None
    size_jitter: Any = None
    credit_share: Any = None
    reserve: Any = None
    credit_queue: Any = None
    bucket: Any = None
    early_stop: Any = None
    retransmit_timeout: Any = None
    missing_timeout: Any = None


@dataclass(kw_only=True)
class Cubic(Parameters):
    """cubic: CUBIC (Ha, Rhee and Xu, CUBIC: a new TCP-friendly high-speed TCP variant, 2008; RFC
    9438).

    Args:
        growth: Growth of the window: the cubic curve, or TCP (New)Reno's linear growth.
            Accepted: cubic or reno. Default: cubic. Source: RFC 9438; reno: RFC 5681.
        beta: Factor of the window after a loss; auto: 0.7 for cubic, 0.5 for reno.
            Accepted: auto, or 0 < beta < 1. Default: auto. Source: RFC 9438 §4.6; RFC 5681
            §3.1.
        scale: The curve's scale C, in segments per cubic second. Accepted: more than 0, at
            most 1000000. Default: 0.4. Source: RFC 9438 §5: 0.4.
        fast_convergence: Whether a loss below the former peak lowers the peak further (fast
            convergence). Accepted: true or false. Default: true. Source: RFC 9438 §4.7.
        reno_friendly: Whether the window is at least Reno's. Accepted: true or false.
            Default: true. Source: RFC 9438 §4.3.
        window_unit: What windows count and grow by: full segments, or packets of the flow's
            own size. Accepted: segment or packet. Default: segment. Source: RFC 5681 §3.1;
            ns-2 counts packets of any size.
        initial_window: First window, in units of `window_unit`. Accepted: 1 to 1000.
            Default: 10. Source: RFC 6928; ns-2: 2.
        min_window: Least window after a loss, in units of `window_unit`. Accepted: 1 to
            1000. Default: 2. Source: RFC 9438 §4.6: 2.
        hystart: Whether slow start may end before a loss (HyStart). Accepted: true or
            false. Default: false. Source: off for reproducibility, own choice; Linux and
            ns-3: on.
        hystart_window: Least window at which HyStart may end slow start, in units of
            `window_unit`. Accepted: 1 to 100000. Default: 16. Source: Linux, ns-3: 16.
        hystart_samples: RTT samples at the start of a round whose minimum is compared.
            Accepted: 1 to 1000. Default: 8. Source: Linux, ns-3: 8.
        hystart_gap: Largest gap between two ACKs of one train. Accepted: more than 0.
            Default: 2ms. Source: Linux, ns-3: 2 ms.
        hystart_train: Length of a train of ACKs that ends slow start, as a share of the
            least RTT. Accepted: more than 0, at most 10. Default: 0.5. Source: HyStart:
            1/2; ns-3: 1.
        hystart_delay_min: Least excess over the least RTT that ends slow start. Accepted:
            any time. Default: 4ms. Source: Linux: 4 ms.
        hystart_delay_max: Most excess over the least RTT that slow start tolerates.
            Accepted: more than 0. Default: 16ms. Source: Linux: 16 ms.
        handshake: Whether a flow waits for the SYN-ACK before it sends. Accepted: true or
            false. Default: false. Source: the papers' simulators: none; a testbed has one.
        rto_min: Least retransmission timeout. Accepted: more than 0, at most 60s. Default:
            10ms. Source: as DCTCP §4.1: 10 ms; a stock kernel has 200 ms.
        rto_initial: Retransmission timeout before the first sample; auto: `rto_min`.
            Accepted: auto, or more than 0, at most 60s. Default: auto. Source: own choice;
            RFC 6298: 1 s.
        recovery: Loss detection: SACK, or NewReno's duplicate ACKs. Accepted: sack or
            newreno. Default: sack. Source: RFC 6675; RFC 6582.
        delayed_ack: Data packets per ACK; 1 acknowledges each packet at once. Accepted: 1
            to 255. Default: 1. Source: the papers' simulators: 1; RFC 5681 §4.2 allows 2.
        delayed_ack_timeout: Longest delay of an ACK. Accepted: more than 0. Default: 40ms.
            Source: stock kernels: 40 ms.
    """

    _transport: ClassVar[str] = "cubic"
    growth: Any = None
    beta: Any = None
    scale: Any = None
    fast_convergence: Any = None
    reno_friendly: Any = None
    window_unit: Any = None
    initial_window: Any = None
    min_window: Any = None
    hystart: Any = None
    hystart_window: Any = None
    hystart_samples: Any = None
    hystart_gap: Any = None
    hystart_train: Any = None
    hystart_delay_min: Any = None
    hystart_delay_max: Any = None
    handshake: Any = None
    rto_min: Any = None
    rto_initial: Any = None
    recovery: Any = None
    delayed_ack: Any = None
    delayed_ack_timeout: Any = None


@dataclass(kw_only=True)
class Dcpim(Parameters):
    """dcpim: dcPIM (Cai, Arashloo and Agarwal, dcPIM: Near-optimal proactive datacenter transport,
    SIGCOMM 2022).

    Args:
        set: Values of several parameters under one name. Parameters given beside it keep
            their given values. Accepted: fabric, authors. Default: fabric. Source: listed
            with each set.
        rounds: Rounds of a matching (r). Accepted: 1 to 32. Default: 4. Source: the paper
            and its simulator: 4.
        round: Length of a round, in round trips of control packets (beta). Accepted: 1 to
            1000 round trips. Default: 1.3. Source: the paper and its simulator: 1.3.
        data_phase: Length of a data phase, in matchings (alpha). Accepted: 1 to 1000
            matchings. Default: 1. Source: authors' simulator: 1.
        channels: Parts of a host's link, each for one flow at a time (k). Accepted: 1 to
            255. Default: 4. Source: the paper and its simulator: 4.
        control_rtt: Round trip of control packets; auto: the base RTT less what full
            packets take longer. Accepted: auto, or 1ns to 1s. Default: auto. Source:
            authors' simulator: 5.216 us.
        shortest_rounds: Rounds in which the flow with the fewest packets left is preferred;
            in the others a random one is. Accepted: 0 to 32. Default: 1. Source: authors'
            simulator: 1.
        prompt: Whether channels that the epoch before left free are used while the matching
            goes on. Accepted: true or false. Default: true. Source: authors' simulator;
            false: an ablation.
        token_initial: Largest flow that is sent without a token; auto: a BDP. Accepted:
            auto, or 1 to 1000000 packets. Default: auto. Source: authors' simulator: 1 BDP,
            49 packets.
        token_window: Tokens under way of a flow that has all channels; auto: a BDP.
            Accepted: auto, or 1 to 1000000 packets. Default: auto. Source: authors'
            simulator: 1 BDP, 49 packets.
        window_timeout: Time after which tokens are taken for lost, in packet times per
            packet of a BDP. Accepted: 0.01 to 1000 BDPs. Default: 1.1. Source: authors'
            simulator: 1.1.
        resend_timeout: Wait of a flow of which every missing packet has a token, the same.
            Accepted: 0.01 to 1000 BDPs. Default: 1. Source: authors' simulator: 1.
        buffer: Buffer of a port, for all classes together; auto: the fabric's. Accepted:
            auto, or a full packet to 1GB. Default: auto. Source: authors' simulator: 500
            KB.
        clock_offset: Largest share of a round by which clocks of hosts differ; at most (1 -
            1 / round) / 2. Accepted: 0 to 0.5. Default: 0. Source: authors' simulator: 0.
        retry: Silence after which a flow is announced again; auto: 3 base RTT. Accepted:
            auto, or more than 0, at most 60s. Default: auto. Source: ours: the authors'
            simulator loses no control packet.
    """

    _transport: ClassVar[str] = "dcpim"
    set: Any = None
    rounds: Any = None
    round: Any = None
    data_phase: Any = None
    channels: Any = None
    control_rtt: Any = None
    shortest_rounds: Any = None
    prompt: Any = None
    token_initial: Any = None
    token_window: Any = None
    window_timeout: Any = None
    resend_timeout: Any = None
    buffer: Any = None
    clock_offset: Any = None
    retry: Any = None


@dataclass(kw_only=True)
class Dcqcn(Parameters):
    """dcqcn: DCQCN (Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM
    2015).

    Args:
        set: Values of several parameters under one name. Parameters given beside it keep
            their given values. Accepted: paper, group_40_100, group_200_500, steps_5_50,
            hpcc, hpcc_paper. Default: paper. Source: listed with each set.
        variant: Variant of the rate control: the paper's, or that of NICs. Accepted: paper
            or mlx. Default: paper. Source: DCQCN §3.1; mlx: HPCC's simulator.
        mark_min: Queue up to which nothing is marked (Kmin). Accepted: any size. Default:
            5KB. Source: DCQCN §5.2, CCRP §3.4: 5 KB.
        mark_max: Queue from which everything is marked (Kmax); auto: 200 KB, at most 70 %
            of the buffer. Accepted: auto, or 1B and more. Default: auto. Source: DCQCN
            §5.2, CCRP §3.4: 200 KB; DCQCN §4: marks come before the buffer is full.
        mark_probability: Probability of a mark just below Kmax (Pmax). Accepted: 0 to 1.
            Default: 0.01. Source: DCQCN §5.2: 1 %; CCRP: not stated.
        mark_rate: Port rate to which Kmin and Kmax apply, scaled for other rates; auto: the
            same for all. Accepted: auto, or more than 0. Default: auto. Source: HPCC's
            simulator: 100 KB and 400 KB at 25 Gb/s.
        mark_by_rate: RED profiles (Kmin/Kmax/Pmax) of ports with these rates; others have
            the values above. Accepted: none, or profiles by rate such as
            25Gbps=100KB/400KB/0.2. Default: none. Source: HPCC's simulator: a table by
            rate.
        cnp: How notifications travel: as packets of their own, or as flags of ACKs.
            Accepted: packet or ack_flag. Default: packet. Source: DCQCN §3.1: a packet;
            HPCC's simulator: a flag.
        cnp_interval: Least time between two CNPs of a flow (N). Accepted: more than 0.
            Default: 50us. Source: DCQCN §3.1: 50 us.
        gain: Weight g of a CNP in alpha. Accepted: 0 < gain <= 1. Default: 0.00390625.
            Source: DCQCN §5.2: 1/256.
        alpha_interval: Time without a CNP after which alpha falls; auto: 55 us, mlx 1 us.
            Accepted: auto, or more than 0. Default: auto. Source: DCQCN §3.1: 55 us; HPCC's
            simulator: 1 us.
        cut_interval: Interval at which the rate may be cut; with mlx only. Accepted: more
            than 0. Default: 4us. Source: HPCC's simulator: 4 us.
        increase_interval: Time between two increases; auto: 55 us, mlx 300 us. Accepted:
            auto, or more than 0. Default: auto. Source: DCQCN §5.2: 55 us; HPCC's
            simulator: 300 us.
        byte_counter: Charged bytes between two increases; with paper only. Accepted: 1B and
            more. Default: 10MB. Source: DCQCN §5.2: 10 MB.
        fast_recovery: Increases of each kind before additive increase (F); auto: 5, mlx 1.
            Accepted: auto, or 0 to 1000. Default: auto. Source: DCQCN §3.1: 5; HPCC's
            simulator: 1.
        additive_increase: Additive increase R_AI; auto: 40 Mb/s, mlx 5 Mb/s per 25 Gb/s.
            Accepted: auto, or more than 0. Default: auto. Source: DCQCN §5.2: 40 Mb/s.
        hyper_increase: Hyper increase R_HAI; auto: ten times the default of R_AI. Accepted:
            auto, or more than 0. Default: auto. Source: not in DCQCN's table: own choice;
            HPCC's simulator: 50 Mb/s per 25 Gb/s.
        min_rate: Least rate; auto: 40 Mb/s, mlx 100 Mb/s. Accepted: auto, or more than 0.
            Default: auto. Source: own choice; HPCC's simulator: 100 Mb/s.
        window_limit: Whether the data in flight is limited to a BDP, in proportion to the
            flow's rate. Accepted: true or false. Default: false. Source: the paper: none;
            HPCC's simulator: DCQCN+win.
        recovery: How lost packets are sent again; with `sack` a BDP may be in flight at
            most. Accepted: go-back-n or sack. Default: go-back-n. Source: HPCC's simulator:
            go-back-n; sack: Mittal et al., IRN, SIGCOMM 2018.
        nack_interval: Least time between two NACKs (go-back-n) for the same byte; at least
            two base RTTs. Accepted: more than 0. Default: 500us. Source: HPCC's simulator:
            500 us.
        rto_min: Least retransmission timeout. Accepted: more than 0, at most 60s. Default:
            1ms. Source: own choice.
        control_limit: Most bytes of ACKs and CNPs queued at a port. Accepted: a control
            packet and more. Default: 128KiB. Source: own choice: as REN's.
    """

    _transport: ClassVar[str] = "dcqcn"
    set: Any = None
    variant: Any = None
    mark_min: Any = None
    mark_max: Any = None
    mark_probability: Any = None
    mark_rate: Any = None
    mark_by_rate: Any = None
    cnp: Any = None
    cnp_interval: Any = None
    gain: Any = None
    alpha_interval: Any = None
    cut_interval: Any = None
    increase_interval: Any = None
    byte_counter: Any = None
    fast_recovery: Any = None
    additive_increase: Any = None
    hyper_increase: Any = None
    min_rate: Any = None
    window_limit: Any = None
    recovery: Any = None
    nack_interval: Any = None
    rto_min: Any = None
    control_limit: Any = None


@dataclass(kw_only=True)
class Dctcp(Parameters):
    """dctcp: DCTCP (Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010; RFC 8257).

    Args:
        set: Values of several parameters under one name. Parameters given beside it keep
            their given values. Accepted: tcp, hpcc. Default: tcp. Source: listed with each
            set.
        control: What marks change: TCP's window, or a rate that starts at the link's.
            Accepted: window or rate. Default: window. Source: RFC 8257; rate: HPCC's
            simulator, for comparisons with RDMA.
        additive_rate: With `control = rate`: increase per round without a mark; auto: a
            packet per base RTT. Accepted: auto, or more than 0. Default: auto. Source:
            HPCC's simulator: 615 Mb/s, a packet of 1,000 B per 13 us.
        min_rate: With `control = rate`: least rate. Accepted: more than 0. Default:
            100Mbps. Source: HPCC's simulator: 100 Mb/s.
        gain: Weight g of a new sample in the estimate of the marked share. Accepted: 0 <
            gain <= 1. Default: 0.0625. Source: DCTCP §3.3, §4: 1/16.
        initial_alpha: The estimate alpha before the first window. Accepted: 0 to 1.
            Default: 1. Source: RFC 8257 §4.2: 1; the simulator of 2010 used 0.
        mark_threshold: Marking threshold K of the queue; auto: max(30 KB, rate x base RTT /
            7), at most 70 % of the buffer. Accepted: auto, 1B or more, or 1 to 4294967295
            packets. Default: auto. Source: DCTCP §3.4: 20 packets at 1 Gb/s, 65 at 10 Gb/s;
            auto is our own.
        mark_rate: Port rate that `mark_threshold` is for, scaled for other rates; auto: the
            same for all. Accepted: auto, or more than 0. Default: auto. Source: HPCC's
            simulator: 30 KB per 10 Gb/s.
        mark_threshold_by_rate: Marking thresholds of ports with these rates; others have
            `mark_threshold`. Accepted: none, or thresholds above 0 by rate such as
            1Gbps=30KB,10Gbps=97.5KB. Default: none. Source: DCTCP §3.4: 20 packets at 1
            Gb/s, 65 at 10 Gb/s.
        window_unit: What windows count and grow by: full segments, or packets of the flow's
            own size. Accepted: segment or packet. Default: segment. Source: RFC 5681 §3.1;
            ns-2 counts packets of any size.
        initial_window: First window, in units of `window_unit`. Accepted: 1 to 1000.
            Default: 10. Source: RFC 6928; 2 in the paper of 2010.
        min_window: Least window after a cut due to marks, in units of `window_unit`.
            Accepted: 1 to 1000. Default: 2. Source: RFC 8257 §3.3, which refers to RFC
            5681; 1 in the incast test.
        rto_min: Least retransmission timeout. Accepted: more than 0, at most 60s. Default:
            10ms. Source: DCTCP §4.1: 10 ms; a stock kernel has 200 ms.
        rto_initial: Retransmission timeout before the first sample; auto: `rto_min`.
            Accepted: auto, or more than 0, at most 60s. Default: auto. Source: own choice;
            RFC 6298: 1 s.
        recovery: Loss detection: SACK, or NewReno's duplicate ACKs. Accepted: sack or
            newreno. Default: sack. Source: DCTCP §4: TCP NewReno with SACK.
        reliability: In which order receivers take packets; unordered: each packet may take
            its own path, and gaps are no losses by themselves. Accepted: ordered or
            unordered. Default: ordered. Source: RFC 8257: in order.
        path_choice: With `reliability = unordered`: how a source chooses the path number of
            each packet. Accepted: oblivious, bitmap, reps or mixed. Default: oblivious.
            Source: own choice; UEC's simulator: mixed.
        entropies: With `reliability = unordered`: path numbers of a flow. Accepted: a power
            of two, 1 to 32768. Default: 64. Source: UEC's simulator: 64.
        delayed_ack: Data packets per ACK; 1 acknowledges each packet at once. Accepted: 1
            to 255. Default: 1. Source: the papers' simulators: 1; DCTCP §3.1 allows 2.
        delayed_ack_timeout: Longest delay of an ACK. Accepted: more than 0. Default: 1ms.
            Source: own choice, below `rto_min`; stock kernels wait 40 ms.
    """

    _transport: ClassVar[str] = "dctcp"
    set: Any = None
    control: Any = None
    additive_rate: Any = None
    min_rate: Any = None
    gain: Any = None
    initial_alpha: Any = None
    mark_threshold: Any = None
    mark_rate: Any = None
    mark_threshold_by_rate: Any = None
    window_unit: Any = None
    initial_window: Any = None
    min_window: Any = None
    rto_min: Any = None
    rto_initial: Any = None
    recovery: Any = None
    reliability: Any = None
    path_choice: Any = None
    entropies: Any = None
    delayed_ack: Any = None
    delayed_ack_timeout: Any = None


@dataclass(kw_only=True)
class Decn(Parameters):
    """decn: DECN (Jiang et al., Achieving Fast Convergence and High Efficiency using Differential
    Explicit Feedback in Data Center).

    Args:
        period: Sampling period t_p of switches, and least time between two units of a flow.
            Accepted: more than 0. Default: 100us. Source: DECN §III-B: 0.1 ms.
        unit: Step of the difference: 1 Mb/s, or scaled to the fabric's fastest link.
            Accepted: paper or scaled. Default: scaled. Source: DECN §III-C: 1 Mb/s; scaled
            is our own.
        cadence: When differences are requested, and how much of them is applied. Accepted:
            guard, paper or gain. Default: guard. Source: guard and gain are our own; DECN
            §III-C as written: paper.
        guard: With `guard`: least time from a change of the rate to the next unit; auto: 3
            periods. Accepted: auto, or more than 0. Default: auto. Source: our own.
        from_sent: Whether differences are added to the rate that a flow used, not to its
            permitted rate. Accepted: true or false. Default: true. Source: DECN §III-A: to
            its current rate.
        decrease_floor: Least part of its rate that a sender keeps; auto: 0.5 with `guard`,
            else 0. Accepted: auto, or 0 to 1. Default: auto. Source: our own; the paper:
            none.
        epoch_packets: Least packets of a flow in a measurement of its rate; 0: one
            measurement per period. Accepted: 0 to 1000. Default: 3. Source: our own; DECN
            Eq. 1: 0.
        epoch_periods: Most periods in a measurement. Accepted: 1 to 1000. Default: 20.
            Source: our own.
        active: Time without packets after which a flow is inactive; auto: 20 periods.
            Accepted: auto, or more than 0. Default: auto. Source: our own; the paper counts
            in each period; 2 of them gain decn/fig10 and starve long flows.
        forget: Time without packets after which a switch removes a flow; at least `active`.
            Accepted: more than 0. Default: 10ms. Source: our own.
        hold_grants: Whether ports count a new flow's grant until a measurement can show it,
            not only in this period. Accepted: true or false. Default: false. Source: our
            own; the paper does not say.
        initial_packets: Initial rate of a flow, in packets per period. Accepted: 1 to 1000.
            Default: 3. Source: our own: a unit per period.
        gap_max: Longest time between full packets of a flow, which sets its least rate.
            Accepted: more than 0. Default: 1ms. Source: our own: a starved flow recovers.
        halve_on_loss: Whether a loss halves the rate, and a timeout lowers it to that of a
            new flow. Accepted: true or false. Default: true. Source: our own: a loss takes
            feedback away.
        rto_min: Least retransmission timeout. Accepted: more than 0, at most 60s. Default:
            10ms. Source: as DCTCP §4.1: 10 ms; a stock kernel has 200 ms.
        rto_initial: Retransmission timeout before the first sample; auto: `rto_min`.
            Accepted: auto, or more than 0, at most 60s. Default: auto. Source: own choice;
            RFC 6298: 1 s.
    """

    _transport: ClassVar[str] = "decn"
    period: Any = None
    unit: Any = None
    cadence: Any = None
    guard: Any = None
    from_sent: Any = None
    decrease_floor: Any = None
    epoch_packets: Any = None
    epoch_periods: Any = None
    active: Any = None
    forget: Any = None
    hold_grants: Any = None
    initial_packets: Any = None
    gap_max: Any = None
    halve_on_loss: Any = None
    rto_min: Any = None
    rto_initial: Any = None


@dataclass(kw_only=True)
class Eqds(Parameters):
    """eqds: EQDS (Olteanu et al., An edge-queued datagram service for all datacenter traffic, NSDI
    2022, as in its authors' simulator).

    Args:
        window: Bytes that a flow sends before it has heard anything, and its largest
            credit; auto: a BDP in full packets. Accepted: auto, or a full packet to 1GB.
            Default: auto. Source: authors' simulator: 50 packets.
        credit_per_pull: Credit of a pull, in steps of 256 bytes. Accepted: 256B to 65280B.
            Default: 4KiB. Source: authors' simulator.
        credit_rate: Share of its link at which a receiver gives credit. Accepted: 0.01 to
            1. Default: 0.985. Source: authors' simulator: 4,096 bytes in 0.99 of the time
            of 4,198.
        path_choice: How a source chooses the path number of each packet. Accepted:
            oblivious, bitmap, reps, mixed or skip. Default: skip. Source: authors'
            simulator: skip.
        entropies: Path numbers of a flow. Accepted: a power of two, 1 to 32768. Default:
            256. Source: authors' simulator: 256.
        ack_bytes: Bytes that a receiver takes in before it sends an ACK that nothing else
            asks for. Accepted: 1B to 1GB. Default: 16KiB. Source: authors' simulator.
        data_queue: Data that may wait at a port and be in transmission; auto: a BDP in full
            packets. Accepted: auto, or two full packets to 1GB. Default: auto. Source:
            authors' simulator: 35 packets.
        rto: The least time after which a packet of which nothing is heard is lost, if the
            round trip and four times its mean difference are less; auto: 50 us and six
            times what the data queue of a port takes. Accepted: auto, or 1us to 10s.
            Default: auto. Source: authors' simulator.
    """

    _transport: ClassVar[str] = "eqds"
    window: Any = None
    credit_per_pull: Any = None
    credit_rate: Any = None
    path_choice: Any = None
    entropies: Any = None
    ack_bytes: Any = None
    data_queue: Any = None
    rto: Any = None


@dataclass(kw_only=True)
class Expresspass(Parameters):
    """expresspass: ExpressPass (Cho, Jang and Han, Credit-Scheduled Delay-Bounded Congestion
    Control for Datacenters, SIGCOMM 2017).

    Args:
        fb: Feedback loop: the authors' code, or the paper's Algorithm 1. Accepted: code or
            paper. Default: code. Source: xpass.cc: credit_feedback_control, published after
            SIGCOMM 2017 Algorithm 1.
        alpha: First credit rate, as a share of the largest. Accepted: 0 < alpha <= 1.
            Default: 0.5. Source: authors' scripts: 1/2; REN and ExpressPass §6 recommend
            1/16.
        w_init: First aggressiveness w. Accepted: 0 to 1. Default: 0.0625. Source: authors'
            fat-tree script, REN: 1/16; ns-default.tcl: 1/2.
        w_min: Least aggressiveness. Accepted: 0 < w_min <= 1. Default: 0.01. Source:
            ExpressPass §3.2; ns-default.tcl.
        w_max: Largest aggressiveness. Accepted: 0 < w_max <= 1. Default: 0.5. Source:
            ExpressPass §3.2; ns-default.tcl.
        target_loss: Target credit loss; auto: 0.1 for `paper`, and for `code` 0.125 x (1 -
            rate / largest rate). Accepted: 0 to 1, or auto. Default: auto. Source:
            ExpressPass §3.2; xpass.cc.
        short_flow: Flows of fewer packets start at a rate in proportion to their size;
            auto: 40 for `code`, 0 (off) for `paper`. Accepted: 0 to 1000000 packets, or
            auto. Default: auto. Source: xpass.cc.
        jitter: Largest deviation of the time between credits, as a share of it. Accepted: 0
            <= jitter < 1. Default: 0.1. Source: ExpressPass §3.1; ns-default.tcl.
        size_jitter: Whether the length of credits varies, from 84 to 100 charged bytes.
            Accepted: true or false. Default: false. Source: fat-tree script: 76 to 92 B,
            which is below Ethernet's least.
        credit_share: Share of a link for credits; auto: the share whose data fills the rest
            of the link, 84/1622 with Ethernet, with `size_jitter` 92/1630. Accepted: 0 <
            share <= 1, such that the data of the credits fits the link (0.0546, 84/1538,
            with Ethernet), or auto. Default: auto. Source: ExpressPass §3.1; CCRP and the
            NUDT model round to 0.05.
        reserve: Whether the credits' share of a link is reserved for them even when there
            are few credits. Accepted: true or false. Default: false. Source: CCRP §3.4:
            data has 95 % of a link, also in a mix.
        credit_queue: Most credits queued at a port. Accepted: 1 to 10000 credits. Default:
            8. Source: fat-tree script: 8; ns-default.tcl: 10.
        bucket: Depth of a port's token bucket, in credits. Accepted: 1 to 10000 credits.
            Default: 2. Source: fat-tree script: 2; ns-default.tcl: 10.
        early_stop: Whether a source stops credits as soon as those in flight suffice.
            Accepted: true or false. Default: true. Source: xpass.cc.
        retransmit_timeout: Time after which requests without a reply and missing data are
            requested again; auto: 0.1 ms, at least 2 base RTT. Accepted: 1us to 1s, or
            auto. Default: auto. Source: fat-tree script: 0.1 ms; ns-default.tcl: 100 ms.
        first_rtt: What a flow does before its first credit: wait or aeolus. Accepted: wait
            or aeolus. Default: wait. Source: Aeolus, SIGCOMM 2020.
        threshold: With `first_rtt = aeolus`: queue length up to which an unscheduled packet
            is admitted. Accepted: 0 to 1000000 packets. Default: 4. Source: Aeolus, SIGCOMM
            2020: 6 KB.
    """

    _transport: ClassVar[str] = "expresspass"
    fb: Any = None
    alpha: Any = None
    w_init: Any = None
    w_min: Any = None
    w_max: Any = None
    target_loss: Any = None
    short_flow: Any = None
    jitter: Any = None
    size_jitter: Any = None
    credit_share: Any = None
    reserve: Any = None
    credit_queue: Any = None
    bucket: Any = None
    early_stop: Any = None
    retransmit_timeout: Any = None
    first_rtt: Any = None
    threshold: Any = None


@dataclass(kw_only=True)
class Fasttune(Parameters):
    """fasttune: FastTune (Zhou et al., FastTune: Timely and Precise Congestion Control in Data
    Center Network).

    Args:
        recovery: Retransmission of lost packets: go-back-n or SACK. Accepted: go-back-n or
            sack. Default: sack. Source: own choice: the paper does not specify it; go-
            back-n as HPCC under PFC.
        forget_after: Idle time after which a switch removes its state of a flow. Accepted:
            more than 0. Default: 1ms. Source: own choice.
        switch_flows: Most flows with state at a switch. Accepted: 1 to 16777216. Default:
            65536. Source: own choice.
        control_limit: Most bytes of ACKs queued at a port. Accepted: a control packet and
            more. Default: 128KiB. Source: own choice: as REN's.
        target_utilisation: Share of the busiest link that is aimed at (eta). Accepted: 0 <
            target_utilisation <= 1. Default: 0.95. Source: HPCC §3.3, FastTune §V-A: 0.95.
        flows: Flows on one link for which additive steps leave room (N). Accepted: 1 to
            1000000. Default: 100. Source: HPCC §5.1: 80 B at 100 Gb/s and 13 us; FastTune
            §V-A: not stated.
        additive_rate: Additive step as a rate; auto: (1 - target_utilisation) / flows of
            the link. Accepted: auto, or more than 0. Default: auto. Source: HPCC §3.3; its
            simulator: 10 Mb/s for each 25 Gb/s.
        min_rate: Least rate. Accepted: more than 0. Default: 100Mbps. Source: HPCC's
            simulator: 100 Mb/s.
        base_rtt: RTT that windows are for (T); auto: the fabric's. Accepted: auto, or more
            than 0. Default: auto. Source: HPCC's simulator: the largest of all pairs.
        cap_window: Whether a window is at most what the host's link carries in T. Accepted:
            true or false. Default: true. Source: HPCC's simulator: no window above the
            link's rate; no listing has a bound.
        int_hops: Records that a packet has room for; auto: as many as the longest path has
            switches. Accepted: auto, or 1 to 8. Default: auto. Source: HPCC's simulator: 5.
        quantise_int: Whether records have the widths of their fields on the wire. Accepted:
            true or false. Default: true. Source: HPCC §4.1; false: an ablation without a
            codec.
        nack_interval: Least time between two requests to go back for the same byte; at
            least two base RTTs. Accepted: more than 0. Default: 500us. Source: HPCC's
            simulator: 500 us.
        rto_min: Minimum retransmission timeout; auto: 1 ms, at least eight RTTs. Accepted:
            auto, or more than 0, at most 60s. Default: auto. Source: own choice: HPCC has
            none.
    """

    _transport: ClassVar[str] = "fasttune"
    recovery: Any = None
    forget_after: Any = None
    switch_flows: Any = None
    control_limit: Any = None
    target_utilisation: Any = None
    flows: Any = None
    additive_rate: Any = None
    min_rate: Any = None
    base_rtt: Any = None
    cap_window: Any = None
    int_hops: Any = None
    quantise_int: Any = None
    nack_interval: Any = None
    rto_min: Any = None


@dataclass(kw_only=True)
class Homa(Parameters):
    """homa: Homa (Montazeri et al., Homa: A receiver-driven low-latency transport protocol using
    network priorities, SIGCOMM 2018).

    Args:
        rtt_bytes: Payload bytes that a message sends unscheduled and may have in flight,
            rounded up to packets; auto: one RTT. Accepted: 1B to 1GB, or auto. Default:
            auto. Source: Homa §3.2: RTTbytes, 9.7 KB at 10 Gb/s.
        priorities: Service classes of a port; class 0 is left to control packets. Accepted:
            2 to 8. Default: 8. Source: Homa §3.4.
        scheduled: Levels for scheduled packets, the rest is for unscheduled ones; auto: by
            the share of unscheduled bytes in the sizes of the run, or by the cutoffs given.
            Accepted: 1 to 6 and below priorities - 1, or auto. Default: auto. Source: Homa
            §3.4; 4 of 8 in the Linux module when sizes are unknown.
        overcommitment: Messages granted at a time (degree of overcommitment); auto: the
            number of scheduled levels. Accepted: 1 to 64, or auto. Default: auto. Source:
            Homa §3.5.
        one_per_sender: Whether only one message of each sender is granted at a time.
            Accepted: true or false. Default: true. Source: authors' simulator: SenderState.
        unscheduled: What decides the class of an unscheduled packet: graduated or size.
            Accepted: graduated or size. Default: graduated. Source: authors' simulator:
            STATIC_CBF_GRADUATED.
        cutoffs: Sizes up to which unscheduled packets have the best class, the next one and
            so on; auto: equal shares of unscheduled bytes. Accepted: 1 to 6 sizes in
            ascending order, or auto. Default: auto. Source: Homa §3.4: from the sizes of
            the run.
        levels: Which scheduled levels few messages use: lowest or fixed. Accepted: lowest
            or fixed. Default: lowest. Source: Homa §3.4: lowest; authors' simulator: fixed.
        boost_tail: Whether the last RTTbytes of a message get an unscheduled class if that
            is better. Accepted: true or false. Default: true. Source: authors' simulator:
            boostTailBytesPrio = RTTbytes.
        max_incoming: Scheduled payload bytes that may be in flight to a host; auto:
            overcommitment x RTTbytes. Accepted: 1B to 1GB, or auto. Default: auto. Source:
            Homa §3.5: buffers needed; Linux module: max_incoming = 400 kB.
        resend_interval: Time without progress after which missing packets are requested;
            auto: 20 base RTT, 1ms at least. Accepted: 1ns to 10s, or auto. Default: auto.
            Source: Homa §3.7: a few milliseconds.
        resend: What is requested then: all or first. Accepted: all or first. Default: all.
            Source: Homa §3.7: the first range; Linux module: all.
        give_up: Requests without a reply after which a message is set aside. Accepted: 1 to
            1000. Default: 5. Source: Linux module.
        link_check: Idle time of the downlink, in bytes, after which one more message is
            granted; 0: never. Accepted: 0B to 1MB. Default: 0B. Source: authors' simulator:
            linkCheckBytes, off.
        buffer: Buffer of a port, all data classes together; auto: that of the scenario.
            Accepted: a full packet to 1GB, or auto. Default: auto. Source: authors'
            simulator: very large; REN: 64 and 128 KB.
    """

    _transport: ClassVar[str] = "homa"
    rtt_bytes: Any = None
    priorities: Any = None
    scheduled: Any = None
    overcommitment: Any = None
    one_per_sender: Any = None
    unscheduled: Any = None
    cutoffs: Any = None
    levels: Any = None
    boost_tail: Any = None
    max_incoming: Any = None
    resend_interval: Any = None
    resend: Any = None
    give_up: Any = None
    link_check: Any = None
    buffer: Any = None


@dataclass(kw_only=True)
class Hpcc(Parameters):
    """hpcc: HPCC (Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019).

    Args:
        max_stage: Additive steps of the window in a row; then it follows the utilisation
            (maxStage). Accepted: 0 to 1000000. Default: 5. Source: HPCC §3.3: 5.
        int_fixed: Whether packets have all their records' bytes from the start. Accepted:
            true or false. Default: false. Source: HPCC §4.1: they grow; its simulator: 42
            B.
        recovery: How lost packets are sent again. Accepted: go-back-n or sack. Default: go-
            back-n. Source: HPCC §4.2: go-back-N under PFC.
        reliability: In which order receivers take packets; unordered: each packet may take
            its own path, and gaps are no losses by themselves. Accepted: ordered or
            unordered. Default: ordered. Source: HPCC §4.2: in order.
        path_choice: With `reliability = unordered`: how a source chooses the path number of
            each packet. Accepted: oblivious, bitmap, reps or mixed. Default: oblivious.
            Source: own choice; UEC's simulator: mixed.
        entropies: With `reliability = unordered`: path numbers of a flow. Accepted: a power
            of two, 1 to 32768. Default: 64. Source: UEC's simulator: 64.
        target_utilisation: Share of the busiest link that is aimed at (eta). Accepted: 0 <
            target_utilisation <= 1. Default: 0.95. Source: HPCC §3.3, FastTune §V-A: 0.95.
        flows: Flows on one link for which additive steps leave room (N). Accepted: 1 to
            1000000. Default: 100. Source: HPCC §5.1: 80 B at 100 Gb/s and 13 us; FastTune
            §V-A: not stated.
        additive_rate: Additive step as a rate; auto: (1 - target_utilisation) / flows of
            the link. Accepted: auto, or more than 0. Default: auto. Source: HPCC §3.3; its
            simulator: 10 Mb/s for each 25 Gb/s.
        min_rate: Least rate. Accepted: more than 0. Default: 100Mbps. Source: HPCC's
            simulator: 100 Mb/s.
        base_rtt: RTT that windows are for (T); auto: the fabric's. Accepted: auto, or more
            than 0. Default: auto. Source: HPCC's simulator: the largest of all pairs.
        cap_window: Whether a window is at most what the host's link carries in T. Accepted:
            true or false. Default: true. Source: HPCC's simulator: no window above the
            link's rate; no listing has a bound.
        int_hops: Records that a packet has room for; auto: as many as the longest path has
            switches. Accepted: auto, or 1 to 8. Default: auto. Source: HPCC's simulator: 5.
        quantise_int: Whether records have the widths of their fields on the wire. Accepted:
            true or false. Default: true. Source: HPCC §4.1; false: an ablation without a
            codec.
        nack_interval: Least time between two requests to go back for the same byte; at
            least two base RTTs. Accepted: more than 0. Default: 500us. Source: HPCC's
            simulator: 500 us.
        rto_min: Minimum retransmission timeout; auto: 1 ms, at least eight RTTs. Accepted:
            auto, or more than 0, at most 60s. Default: auto. Source: own choice: HPCC has
            none.
    """

    _transport: ClassVar[str] = "hpcc"
    max_stage: Any = None
    int_fixed: Any = None
    recovery: Any = None
    reliability: Any = None
    path_choice: Any = None
    entropies: Any = None
    target_utilisation: Any = None
    flows: Any = None
    additive_rate: Any = None
    min_rate: Any = None
    base_rtt: Any = None
    cap_window: Any = None
    int_hops: Any = None
    quantise_int: Any = None
    nack_interval: Any = None
    rto_min: Any = None


@dataclass(kw_only=True)
class HpccPlus(Parameters):
    """hpcc_plus: HPCC+ (Zhou et al., FastTune: Timely and Precise Congestion Control in Data
    Center Network).

    Args:
        int_fixed: Whether packets have all their records' bytes from the start. Accepted:
            true or false. Default: false. Source: HPCC §4.1: they grow; its simulator: 42
            B.
        recovery: How lost packets are sent again. Accepted: go-back-n or sack. Default: go-
            back-n. Source: HPCC §4.2: go-back-N under PFC.
        target_utilisation: Share of the busiest link that is aimed at (eta). Accepted: 0 <
            target_utilisation <= 1. Default: 0.95. Source: HPCC §3.3, FastTune §V-A: 0.95.
        flows: Flows on one link for which additive steps leave room (N). Accepted: 1 to
            1000000. Default: 100. Source: HPCC §5.1: 80 B at 100 Gb/s and 13 us; FastTune
            §V-A: not stated.
        additive_rate: Additive step as a rate; auto: (1 - target_utilisation) / flows of
            the link. Accepted: auto, or more than 0. Default: auto. Source: HPCC §3.3; its
            simulator: 10 Mb/s for each 25 Gb/s.
        min_rate: Least rate. Accepted: more than 0. Default: 100Mbps. Source: HPCC's
            simulator: 100 Mb/s.
        base_rtt: RTT that windows are for (T); auto: the fabric's. Accepted: auto, or more
            than 0. Default: auto. Source: HPCC's simulator: the largest of all pairs.
        cap_window: Whether a window is at most what the host's link carries in T. Accepted:
            true or false. Default: true. Source: HPCC's simulator: no window above the
            link's rate; no listing has a bound.
        int_hops: Records that a packet has room for; auto: as many as the longest path has
            switches. Accepted: auto, or 1 to 8. Default: auto. Source: HPCC's simulator: 5.
        quantise_int: Whether records have the widths of their fields on the wire. Accepted:
            true or false. Default: true. Source: HPCC §4.1; false: an ablation without a
            codec.
        nack_interval: Least time between two requests to go back for the same byte; at
            least two base RTTs. Accepted: more than 0. Default: 500us. Source: HPCC's
            simulator: 500 us.
        rto_min: Minimum retransmission timeout; auto: 1 ms, at least eight RTTs. Accepted:
            auto, or more than 0, at most 60s. Default: auto. Source: own choice: HPCC has
            none.
    """

    _transport: ClassVar[str] = "hpcc_plus"
    int_fixed: Any = None
    recovery: Any = None
    target_utilisation: Any = None
    flows: Any = None
    additive_rate: Any = None
    min_rate: Any = None
    base_rtt: Any = None
    cap_window: Any = None
    int_hops: Any = None
    quantise_int: Any = None
    nack_interval: Any = None
    rto_min: Any = None


@dataclass(kw_only=True)
class Mlcp(Parameters):
    """mlcp: MLCP (Qazi and Znati, On the design of load factor based congestion control protocols
    for next-generation networks, INFOCOM 2008).

    Args:
        period: Interval t_p of the load. Accepted: more than 0. Default: 100us. Source:
            DECN §II-A: 0.1 ms.
        sample: Time between samples of the queue; auto: a twentieth of the interval.
            Accepted: auto, or more than 0. Default: auto. Source: reconstructed from VCP
            §3.1.
        increase: Scale kappa of multiplicative increase: xi = kappa (1 - load) / load, at
            most 1. Accepted: 0 < increase <= 10. Default: 0.35. Source: reconstructed: VCP
            has 0.25 at a load of 0.8.
        additive: Packets alpha that additive increase adds per RTT. Accepted: 0 < additive
            <= 1000. Default: 1. Source: reconstructed: VCP §3.2: 1.
        decrease: Factors beta of the six levels of overload. Accepted: six falling factors
            above 0, at most 1. Default: 0.99/0.96/0.93/0.9/0.875/0.85. Source:
            reconstructed.
        queue_weight: Part kappa_q of the average queue that counts as load. Accepted: 0 to
            10. Default: 0.75. Source: reconstructed.
        average_weight: Weight of an interval's queue in its average. Accepted: 0 <
            average_weight <= 1. Default: 0.25. Source: reconstructed from VCP's ns-2 code.
        target: Target utilisation gamma. Accepted: 0 < target <= 1. Default: 0.98. Source:
            reconstructed: VCP §3.1: 0.98.
        high_load: Load from which increase is additive; below are eight levels of equal
            width. Accepted: 0 < high_load < 1. Default: 0.8. Source: reconstructed: VCP §3:
            80 %.
        overload_step: Width of a level of overload. Accepted: 0 < overload_step <= 1.
            Default: 0.04. Source: reconstructed.
        scale_max: Maximum number of intervals per RTT by which increase is scaled.
            Accepted: 0.01 to 100. Default: 1. Source: our own: 2.5 as VCP's would be five
            times as fast as DECN Fig. 1(b).
        header: Bytes that the class of the RTT takes in data; 0: reserved bits. Accepted: 0
            or 1. Default: 1. Source: DECN §VI: 4 bits and 3 bits.
        at_nics: Whether NIC ports measure too. Accepted: true or false. Default: true.
            Source: ns-2: every link has one.
        pacing: Whether packets are paced over the RTT. Accepted: true or false. Default:
            true. Source: our own, as VCP.
        window_unit: What windows count and grow by: full segments, or packets of the flow's
            own size. Accepted: segment or packet. Default: segment. Source: own choice, as
            TCP; ns-2 counts packets of any size.
        initial_window: First window, in units of `window_unit`. Accepted: 1 to 1000.
            Default: 2. Source: ns-2: 1 or 2.
        rto_min: Minimum retransmission timeout. Accepted: more than 0, at most 60s.
            Default: 10ms. Source: as DCTCP §4.1: 10 ms; a stock kernel has 200 ms.
        rto_initial: Retransmission timeout before the first sample; auto: `rto_min`.
            Accepted: auto, or more than 0, at most 60s. Default: auto. Source: own choice;
            RFC 6298: 1 s.
    """

    _transport: ClassVar[str] = "mlcp"
    period: Any = None
    sample: Any = None
    increase: Any = None
    additive: Any = None
    decrease: Any = None
    queue_weight: Any = None
    average_weight: Any = None
    target: Any = None
    high_load: Any = None
    overload_step: Any = None
    scale_max: Any = None
    header: Any = None
    at_nics: Any = None
    pacing: Any = None
    window_unit: Any = None
    initial_window: Any = None
    rto_min: Any = None
    rto_initial: Any = None


@dataclass(kw_only=True)
class Ndp(Parameters):
    """ndp: NDP (Handley et al., Re-architecting datacenter networks and stacks for low latency and
    high performance, SIGCOMM 2017).

    Args:
        data_queue: Data that may wait at a port, in packets or charged bytes; the payload
            of any further packet is cut off. Accepted: 1 to 100000 packets, or a full
            packet to 1GB. Default: 8 packets. Source: NDP §6: eight packets; also REN §6,
            AMRT §6.
        header_queue: Headers and control that may wait at a port, in packets or charged
            bytes. Does not depend on `data_queue`. Accepted: auto, 1 to 100000 packets, or
            a header to 1GB. Default: auto. Source: authors' simulator: twice the data queue
            of eight packets, here of 1,500 B: 24KB; auto is that, or 16 headers if they are
            longer.
        header_priority: Service of headers and control beside data: by `header_share`, or
            strictly first. Accepted: weighted or strict. Default: weighted. Source: NDP
            §3.1; the authors' simulator of today is almost strict (100000:1).
        header_share: Headers sent for each data packet while both wait at a port, if
            `header_priority` is `weighted`. Accepted: 1 to 100000. Default: 10. Source: NDP
            §3.1: 10:1.
        trim_tail: Probability that the last packet of a full queue is trimmed, not the
            arriving one. Accepted: 0 to 1. Default: 0.5. Source: NDP §3.1: breaks phase
            effects.
        return_to_sender: Whether a header that finds no room goes back to its source, once.
            Accepted: true or false. Default: true. Source: NDP §3.2.4; off in the authors'
            simulator.
        first_window: Packets of the first window; auto: the RTT's, at least 15. Accepted: 1
            to 1000000 packets, or auto. Default: auto. Source: authors' simulator: 15 to
            23; auto is our choice.
        pull_rate: Share of the host's link rate that its pulls request. Accepted: 0.01 to
            1. Default: 1. Source: authors' simulator: one pull in the time of a full
            packet.
        rto_min: Minimum retransmission timeout. Accepted: 1us to 10s. Default: 1ms. Source:
            1 ms class, as the paper's last resort.
        paths: Paths a source permutes, where it chooses (routing source-path); auto: the
            fabric's. Accepted: 1 to 4096, or auto. Default: auto. Source: NDP §3.1.1:
            sources permute paths.
    """

    _transport: ClassVar[str] = "ndp"
    data_queue: Any = None
    header_queue: Any = None
    header_priority: Any = None
    header_share: Any = None
    trim_tail: Any = None
    return_to_sender: Any = None
    first_window: Any = None
    pull_rate: Any = None
    rto_min: Any = None
    paths: Any = None


@dataclass(kw_only=True)
class None_(Parameters):
    """none: No congestion control (no paper: a fixed rate, as constant bit rate sources of ns-2
    and ns-3 have).

    Args:
        rate: Rate of each flow, of bytes that links charge; auto, or above the NIC's: the
            NIC's. Accepted: auto, or more than 0. Default: auto. Source: own choice.
        rto_min: Minimum retransmission timeout. Accepted: more than 0, at most 60s.
            Default: 10ms. Source: own choice, as DCTCP.
    """

    _transport: ClassVar[str] = "none"
    rate: Any = None
    rto_min: Any = None


@dataclass(kw_only=True)
class Pfabric(Parameters):
    """pfabric: pFabric (Alizadeh et al., pFabric: Minimal near-optimal datacenter transport,
    SIGCOMM 2013).

    Args:
        set: Values of several parameters under one name. Parameters given beside it keep
            their given values. Accepted: fabric, yaps, dcpim. Default: fabric. Source:
            listed with each set.
        buffer: Buffer of a port, ACKs included; auto: 2 BDP of a host's link, at least 24
            full packets. Accepted: a full packet to 1GB, or auto. Default: auto. Source:
            the paper's rule: 2 BDP; YAPS: 24 packets of 1536 B; SIRD's simulator: 54
            packets.
        initial_window: First window, in packets; auto: a BDP. Accepted: 1 to 1000000
            packets, or auto. Default: auto. Source: a BDP; YAPS: 12 at 40 Gb/s; dcPIM's
            simulator: 19 at 100 Gb/s.
        max_window: Largest window, in packets; auto: 1.25 BDP. Accepted: 1 to 1000000
            packets, or auto. Default: auto. Source: YAPS: 15 for a first window of 12;
            dcPIM's simulator: 22 for 19.
        rto: Retransmission timeout, which does not grow; auto: 3 base RTT. Accepted: auto,
            or more than 0, at most 60s. Default: auto. Source: YAPS: 45 us; dcPIM's
            simulator: 15.4 us; SIRD's: 24 us.
        probe_after: Timeouts in a row after which a flow sends only probes, without
            payload, until an ACK comes; 0: never. Accepted: 0 to 1000000 timeouts. Default:
            5. Source: the paper; no public simulator has probes.
    """

    _transport: ClassVar[str] = "pfabric"
    set: Any = None
    buffer: Any = None
    initial_window: Any = None
    max_window: Any = None
    rto: Any = None
    probe_after: Any = None


@dataclass(kw_only=True)
class Phost(Parameters):
    """phost: pHost (Gao et al., pHost: Distributed near-optimal datacenter transport over
    commodity network fabric, CoNEXT 2015).

    Args:
        free_tokens: Free tokens of a flow that is no larger; auto: the packets of the RTT.
            Accepted: 0 to 1000000 packets, or auto. Default: auto. Source: authors'
            simulator: capability_initial = 8 = BDP.
        free_for_long: Whether larger flows have free tokens too, for their first packets.
            Accepted: true or false. Default: false. Source: off in the authors' simulator;
            REN and AMRT describe pHost with it.
        window: Tokens of a flow that may be unused before it must wait; auto: the RTT's.
            Accepted: 1 to 1000000 tokens, or auto. Default: auto. Source: authors'
            simulator: capability_window = 8 = BDP.
        token_life: Life of a token at the source, in packet times. Accepted: 0 to 1000000.
            Default: 1.5. Source: pHost §3; capability_timeout.
        downgrade: Wait of a flow that does not use its tokens; auto: 3 base RTT (25 packet
            times at a BDP of 8). Accepted: 1ns to 10s, or auto. Default: auto. Source:
            pHost §3.3: 3 RTT; capability_window_timeout = 25 packet times.
        wake: What wakes a destination's token clock while no flow may have a token: the
            closest retry (`timer`), or also data that makes room in a window (`data`). A
            new flow always does. Accepted: timer or data. Default: timer. Source: authors'
            simulator: send_capability sleeps until the closest timeout.
        pause: Wait after the last token before tokens are issued again; auto: 1.1 base RTT
            (9 packet times at a BDP of 8). Accepted: 1ns to 10s, or auto. Default: auto.
            Source: capability_resend_timeout = 9 packet times at a BDP of 8.
        announce_again: Time without progress after which a source repeats an announcement;
            auto: 3 base RTT. Accepted: 1ns to 10s, or auto. Default: auto. Source: ours:
            the authors' simulator loses no announcement.
        third_level: Whether flows larger than the free tokens have a priority below the
            others. Accepted: true or false. Default: true. Source: authors' simulator:
            capability_third_level.
        buffer: Buffer of a port, all classes together; auto: that of the scenario.
            Accepted: a full packet to 1GB, or auto. Default: 36KiB. Source: authors'
            simulator: queue_size = 24 packets of 1536 B.
        push_out: Whether a full port drops its least important packet instead of the
            arriving one. Accepted: true or false. Default: true. Source: authors'
            simulator: pFabric queue with static priorities.
    """

    _transport: ClassVar[str] = "phost"
    free_tokens: Any = None
    free_for_long: Any = None
    window: Any = None
    token_life: Any = None
    downgrade: Any = None
    wake: Any = None
    pause: Any = None
    announce_again: Any = None
    third_level: Any = None
    buffer: Any = None
    push_out: Any = None


@dataclass(kw_only=True)
class Powertcp(Parameters):
    """powertcp: PowerTCP (Addanki, Michel and Schmid, PowerTCP: Pushing the Performance Limits of
    Datacenter Networks, NSDI 2022).

    Args:
        set: Values of several parameters under one name. Parameters given beside it keep
            their given values. Accepted: paper, code. Default: paper. Source: listed with
            each set.
        gain: Weight of the new window (gamma). Accepted: 0 < gain <= 1. Default: 0.9.
            Source: PowerTCP §3: 0.9.
        target_power: Power that is aimed at (eta); a busy link without a queue has 1.
            Accepted: 0 < target_power <= 1. Default: 1. Source: PowerTCP Algorithm 1; its
            simulator: 0.95.
        power_floor: Least rate of arrivals that a hop counts with, in link rates. Accepted:
            0 to 1. Default: 0.5. Source: PowerTCP's simulator: 0.5; the paper has none.
        average: The window with which a new one is averaged: the present one, or that of
            the round. Accepted: window or reference. Default: window. Source: PowerTCP
            Algorithm 1; its simulator: reference.
        int_hops: Records that a packet has room for; auto: as many as the longest path has
            switches. Accepted: auto, or 1 to 8. Default: auto. Source: as HPCC.
        quantise_int: Whether records have the widths of their fields on the wire. Accepted:
            true or false. Default: true. Source: HPCC §4.1; false: an ablation without a
            codec.
        flows: Flows that a host's link is expected to have at once (N): each adds so many
            times less. Accepted: 1 to 1000000. Default: 10. Source: PowerTCP §3: expected
            flows per NIC; 10 is our own.
        additive_rate: Additive step as a rate; auto: the link's over `flows`. Accepted:
            auto, or 0bps and more. Default: auto. Source: PowerTCP §3; its simulator: 150
            Mb/s.
        min_rate: Least rate. Accepted: more than 0. Default: 100Mbps. Source: PowerTCP's
            simulator: 100 Mb/s.
        base_rtt: RTT that windows are for (tau); auto: the fabric's. Accepted: auto, or
            more than 0. Default: auto. Source: PowerTCP's simulator: the largest of all
            pairs.
        recovery: How lost packets are sent again. Accepted: go-back-n or sack. Default: go-
            back-n. Source: PowerTCP's simulator: go-back-N under PFC.
        nack_interval: Least time between two requests to go back for the same byte; at
            least two base RTTs. Accepted: more than 0. Default: 500us. Source: HPCC's
            simulator: 500 us.
        rto_min: Minimum retransmission timeout; auto: 1 ms, at least eight RTTs. Accepted:
            auto, or more than 0, at most 60s. Default: auto. Source: own choice: PowerTCP
            has none.
    """

    _transport: ClassVar[str] = "powertcp"
    set: Any = None
    gain: Any = None
    target_power: Any = None
    power_floor: Any = None
    average: Any = None
    int_hops: Any = None
    quantise_int: Any = None
    flows: Any = None
    additive_rate: Any = None
    min_rate: Any = None
    base_rtt: Any = None
    recovery: Any = None
    nack_interval: Any = None
    rto_min: Any = None


@dataclass(kw_only=True)
class Rcp(Parameters):
    """rcp: RCP (Dukkipati, Kobayashi, Zhang-Shen and McKeown, Processor Sharing Flows in the
    Internet, IWQoS 2005).

    Args:
        alpha: Share of the spare bandwidth that is given away per RTT. Accepted: 0 < alpha
            <= 1. Default: 0.4. Source: ns-2 scripts: 0.4; the papers: 0.226 to 1.
        beta: Share of the queue that is drained per RTT. Accepted: 0 to 1. Default: 1.
            Source: ns-2 scripts: 1; the papers: 0.226 to 1.
        target: Target utilisation gamma. Accepted: 0 < target <= 1. Default: 1. Source:
            ns-2: 1; 0.95 in later papers.
        initial_rate: A port's first rate, as a part of its link's. Accepted: 0 <
            initial_rate <= 1. Default: 0.5. Source: our own; ns-2: 0.05.
        rate_min: Least rate of a port, in packets per RTT. Accepted: 0 < rate_min <= 1.
            Default: 0.01. Source: ns-2, min_pprtt: 0.01.
        slot: Longest control interval; auto: the average RTT. Accepted: auto, or more than
            0. Default: auto. Source: ns-2: 10 ms.
        rtt_initial: Average RTT before a port has seen one; auto: the fabric's base RTT.
            Accepted: auto, or more than 0. Default: auto. Source: our own; ns-2: 200 ms.
        patience: RTTs without an ACK after which a source halves its rate. Accepted: 1 to
            1000. Default: 4. Source: RCP's ns-2 code: 4.
        first_rtt_rate: Whether a flow starts at the last rate its host received, without a
            request. Accepted: true or false. Default: false. Source: our own.
        rto_min: Minimum retransmission timeout, also of the first request. Accepted: more
            than 0, at most 60s. Default: 10ms. Source: as DCTCP §4.1: 10 ms; a stock kernel
            has 200 ms.
        rto_initial: Retransmission timeout before the first sample; auto: `rto_min`.
            Accepted: auto, or more than 0, at most 60s. Default: auto. Source: own choice;
            RFC 6298: 1 s.
    """

    _transport: ClassVar[str] = "rcp"
    alpha: Any = None
    beta: Any = None
    target: Any = None
    initial_rate: Any = None
    rate_min: Any = None
    slot: Any = None
    rtt_initial: Any = None
    patience: Any = None
    first_rtt_rate: Any = None
    rto_min: Any = None
    rto_initial: Any = None


@dataclass(kw_only=True)
class Ren(Parameters):
    """ren: REN: receiver-driven transport based on explicit notification (IEEE Transactions on
    Cloud Computing, 2021).

    Args:
        period: Sampling period of the switches; auto: the base RTT. Accepted: auto, or more
            than 0. Default: auto. Source: REN §3.2.3, §6.4.
        feedback: Whether marks in flight count: compensate or literal. Accepted:
            compensate, literal. Default: compensate. Source: REN §3.2.1 is silent; literal
            empties the network whenever two flows start together.
        recent: Marks that count as in flight: those of whole periods or those of the
            elapsed base RTT. Accepted: periods, elapsed. Default: periods. Source: REN is
            silent; after a gap in the traffic, periods still has the marks before it.
        rule: Under-utilisation by the period's budget or by each packet's gap: budget or
            gap. Accepted: budget, gap. Default: budget. Source: REN §3.2.2 (budget), Fig. 7
            (gap).
        spread: Which packets get a period's marks: head or even. Accepted: head, even.
            Default: head. Source: REN is silent; the next ones to leave.
        spend: Packets that marks of under-utilisation are spent on: unmarked or any.
            Accepted: unmarked, any. Default: unmarked. Source: REN §3.2.3: under only if
            every hop says so; any spends marks that a hop before undid.
        sample: Which queue of a period is compared with its idle time: last or least.
            Accepted: last, least. Default: last. Source: REN §3.2.3, §5.1: the queue at the
            end of a period; least is an ablation.
        leave_all: Whether a port with room leaves every packet of a period as it is.
            Accepted: true or false. Default: false. Source: REN §3.2.2: as many as would
            have fitted; true is an ablation.
        at_nics: Whether NICs withhold marks of under-utilisation as switch ports do.
            Accepted: true or false. Default: true. Source: REN §5.1 has switches only; ns-2
            (REN §6) marks in every link's queue.
        burst: Packets sent without a grant when a flow starts; auto: one bandwidth-delay
            product. Accepted: auto, or 1 and more. Default: auto. Source: REN §2.1, §4.1:
            line rate in the first RTT.
        stall: Receive timeout after which a receiver requests again; auto: 2 base RTT +
            buffer / rate. Accepted: auto, or more than 0. Default: auto. Source: REN is
            silent about losses and stalls.
        control_limit: What the control class of a port holds. Accepted: a control packet
            and more. Default: 128KiB. Source: REN is silent; as large as the data buffer of
            REN §6.
    """

    _transport: ClassVar[str] = "ren"
    period: Any = None
    feedback: Any = None
    recent: Any = None
    rule: Any = None
    spread: Any = None
    spend: Any = None
    sample: Any = None
    leave_all: Any = None
    at_nics: Any = None
    burst: Any = None
    stall: Any = None
    control_limit: Any = None


@dataclass(kw_only=True)
class Sird(Parameters):
    """sird: SIRD (Prasopoulos et al., SIRD: A sender-informed, receiver-driven datacenter
    transport protocol, NSDI 2025).

    Args:
        set: Values of several parameters under one name. Parameters given beside it keep
            their given values. Accepted: fabric, authors. Default: fabric. Source: listed
            with each set.
        bdp: What fills the round trip, in charged bytes; auto: the packets of a base RTT.
            Accepted: a full packet to 1GB, or auto. Default: auto. Source: authors'
            simulator: 100,000 B at 100 Gb/s and 8 us.
        budget: What a destination has credited and not received at most, in BDPs (B).
            Accepted: 1 to 1000 BDPs. Default: 1.5. Source: SIRD: 1.5 BDP; authors'
            simulator: 150,000 B.
        unscheduled: Largest message that is sent without being asked for, in BDPs (UnschT).
            Accepted: 0 to 1000 BDPs. Default: 1. Source: SIRD: 1 BDP; authors' simulator:
            100,000 B.
        sender_threshold: Unused credit from which on a source says that it is congested, in
            BDPs (SThr). Accepted: 0 to 1000 BDPs. Default: 0.5. Source: SIRD: 0.5 BDP;
            authors' simulator: 33 packets of 1458 B.
        busy: Of which there must be two for a source to say so. Accepted: destinations or
            messages. Default: destinations. Source: the paper's meaning; authors'
            simulator: messages.
        mark_threshold: Queue between switches from which on packets are marked; auto: 1.25
            BDP. Accepted: auto, 1B or more, or 1 to 4294967295 packets. Default: auto.
            Source: SIRD: 1.25 BDP; authors' simulator: 82 packets.
        gain: Weight of the last window in the average share of marks. Accepted: more than
            0, at most 1. Default: 0.08. Source: authors' simulator: 0.08.
        host_min: Least credit of a source whose marks are its own, in BDPs. Accepted: 0.001
            to 1 BDPs. Default: 0.1. Source: authors' simulator: 0.1.
        net_min: Least credit of a source whose packets switches mark, in BDPs. Accepted:
            0.001 to 1 BDPs. Default: 0.03. Source: authors' simulator: 0.03.
        grows_on_marks: Whether marked packets raise the credit of a source too. Accepted:
            true or false. Default: true. Source: authors' simulator, where a flag is set
            before it is asked for; DCTCP's rule: false.
        shortest: Share of a source's link that goes to the destination with the least to
            send; equal shares get the rest. Accepted: 0 to 1. Default: 0.5. Source:
            authors' simulator: half, and half fair.
        retry: Silence after which a destination gives new credits for what is missing, and
            a source asks again; auto: 3 base RTT. Accepted: auto, or more than 0, at most
            60s. Default: auto. Source: ours: the authors' simulator loses nothing.
    """

    _transport: ClassVar[str] = "sird"
    set: Any = None
    bdp: Any = None
    budget: Any = None
    unscheduled: Any = None
    sender_threshold: Any = None
    busy: Any = None
    mark_threshold: Any = None
    gain: Any = None
    host_min: Any = None
    net_min: Any = None
    grows_on_marks: Any = None
    shortest: Any = None
    retry: Any = None


@dataclass(kw_only=True)
class Swift(Parameters):
    """swift: Swift (Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in
    the Datacenter, SIGCOMM 2020).

    Args:
        set: Values of several parameters under one name. Parameters given beside it keep
            their given values. Accepted: fabric, htsim, sird, bolt. Default: fabric.
            Source: listed with each set.
        base_target: Target delay of a flow with a large window; auto: 1.25 base RTTs and 2
            us. Accepted: auto, or more than 0. Default: auto. Source: Swift §3.5; auto is
            our own; htsim: 20 us, Bolt's simulator: 25 us.
        hop_target: What each link of the longest path adds to it; auto: 0 with `base_target
            = auto`, else 1 us. Accepted: auto, or 0 and more. Default: auto. Source: Swift
            §3.5; SIRD's and Bolt's simulators: 1 us, htsim: 3.05 us.
        flow_range: What a small window adds to it at most (fs_range); auto: five times
            `base_target`. Accepted: auto, or more than 0. Default: auto. Source: Swift
            §3.5; htsim, SIRD's simulator: five times the base.
        flow_min: Window that adds all of it, in packets (fs_min_cwnd). Accepted: 0.001 to
            1000000. Default: 0.1. Source: Swift §3.5; htsim: 0.1.
        flow_max: Window from which on nothing is added, in packets (fs_max_cwnd). Accepted:
            0.001 to 1000000. Default: 100. Source: Swift §3.5; htsim: 100, Bolt's
            simulator: 256.
        increase: Packets that a window grows by per RTT (ai). Accepted: more than 0, at
            most 1000. Default: 1. Source: Swift Algorithm 1; htsim: 1.
        decrease: Factor of a decrease (beta). Accepted: more than 0, at most 1. Default:
            0.8. Source: Swift Algorithm 1; htsim: 0.8.
        max_decrease: Largest share that a decrease takes (max_mdf). Accepted: more than 0,
            below 1. Default: 0.5. Source: Swift Algorithm 1; htsim: 0.5.
        min_window: Least window, in packets. Accepted: 0.001 to 1000000. Default: 0.001.
            Source: SIRD's simulator: 0.001; htsim: 10 B.
        max_window: Largest window, in packets. Accepted: 0.001 to 1000000. Default: 256.
            Source: Bolt's simulator: 256; htsim: 1000.
        initial_window: First window, in packets; auto: a BDP. Accepted: auto, or 0.001 to
            1000000. Default: auto. Source: SIRD's and Bolt's simulators: a BDP; htsim: 12.
        timeouts_to_min: Timeouts in a row after which the window is the least one.
            Accepted: 1 to 1000. Default: 5. Source: htsim: 5; SIRD's simulator: 12.
        rto_min: Least retransmission timeout. Accepted: more than 0, at most 60s. Default:
            100us. Source: htsim: 100 us.
        rto_initial: Retransmission timeout before the first sample. Accepted: more than 0,
            at most 60s. Default: 1ms. Source: htsim: 1 ms.
        reliability: In which order receivers take packets; unordered: each packet may take
            its own path, and gaps are no losses by themselves. Accepted: ordered or
            unordered. Default: ordered. Source: Swift is a stack of flows in order; htsim
            sprays, too.
        path_choice: With `reliability = unordered`: how a source chooses the path number of
            each packet. Accepted: oblivious, bitmap, reps or mixed. Default: oblivious.
            Source: own choice; UEC's simulator: mixed.
        entropies: With `reliability = unordered`: path numbers of a flow. Accepted: a power
            of two, 1 to 32768. Default: 64. Source: UEC's simulator: 64.
    """

    _transport: ClassVar[str] = "swift"
    set: Any = None
    base_target: Any = None
    hop_target: Any = None
    flow_range: Any = None
    flow_min: Any = None
    flow_max: Any = None
    increase: Any = None
    decrease: Any = None
    max_decrease: Any = None
    min_window: Any = None
    max_window: Any = None
    initial_window: Any = None
    timeouts_to_min: Any = None
    rto_min: Any = None
    rto_initial: Any = None
    reliability: Any = None
    path_choice: Any = None
    entropies: Any = None


@dataclass(kw_only=True)
class ThetaPowertcp(Parameters):
    """theta_powertcp: theta-PowerTCP (Addanki, Michel and Schmid, PowerTCP: Pushing the
    Performance Limits of Datacenter Networks, NSDI 2022, Algorithm 2).

    Args:
        set: Values of several parameters under one name. Parameters given beside it keep
            their given values. Accepted: paper, code. Default: paper. Source: listed with
            each set.
        gain: Weight of the new window (gamma). Accepted: 0 < gain <= 1. Default: 0.7.
            Source: PowerTCP's simulator: 0.7; PowerTCP §3: 0.9.
        tolerance: Base RTTs that count as a delay without a queue. Accepted: 1 to 10.
            Default: 1. Source: PowerTCP Algorithm 2: 1; its simulator: 1.05.
        power_floor: Least growth of delay, in link rates. Accepted: 0 to 1. Default: 0.5.
            Source: PowerTCP's simulator: 0.5; the paper has none.
        update: When the window changes: once per RTT, or with each ACK. Accepted: round or
            ack. Default: round. Source: PowerTCP Algorithm 2; its simulator: ack.
        flows: Flows that a host's link is expected to have at once (N): each adds so many
            times less. Accepted: 1 to 1000000. Default: 10. Source: PowerTCP §3: expected
            flows per NIC; 10 is our own.
        additive_rate: Additive step as a rate; auto: the link's over `flows`. Accepted:
            auto, or 0bps and more. Default: auto. Source: PowerTCP §3; its simulator: 150
            Mb/s.
        min_rate: Least rate. Accepted: more than 0. Default: 100Mbps. Source: PowerTCP's
            simulator: 100 Mb/s.
        base_rtt: RTT that windows are for (tau); auto: the fabric's. Accepted: auto, or
            more than 0. Default: auto. Source: PowerTCP's simulator: the largest of all
            pairs.
        recovery: How lost packets are sent again. Accepted: go-back-n or sack. Default: go-
            back-n. Source: PowerTCP's simulator: go-back-N under PFC.
        nack_interval: Least time between two requests to go back for the same byte; at
            least two base RTTs. Accepted: more than 0. Default: 500us. Source: HPCC's
            simulator: 500 us.
        rto_min: Minimum retransmission timeout; auto: 1 ms, at least eight RTTs. Accepted:
            auto, or more than 0, at most 60s. Default: auto. Source: own choice: PowerTCP
            has none.
    """

    _transport: ClassVar[str] = "theta_powertcp"
    set: Any = None
    gain: Any = None
    tolerance: Any = None
    power_floor: Any = None
    update: Any = None
    flows: Any = None
    additive_rate: Any = None
    min_rate: Any = None
    base_rtt: Any = None
    recovery: Any = None
    nack_interval: Any = None
    rto_min: Any = None


@dataclass(kw_only=True)
class Timely(Parameters):
    """timely: TIMELY (Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter,
    SIGCOMM 2015).

    Args:
        variant: What happens between the two thresholds. Accepted: paper or patched.
            Default: paper. Source: TIMELY Algorithm 1; Zhu et al., ECN or Delay, CoNEXT
            2016, Algorithm 2.
        weight: Weight of the new difference in the averaged one. Accepted: 0 < weight <= 1.
            Default: 0.875. Source: HPCC's simulator; TIMELY §4.3 names no value.
        decrease: Decrease factor beta. Accepted: 0 < decrease <= 1. Default: 0.8. Source:
            TIMELY §4.4: 0.8.
        delay_low: Delay below which the rate always rises (T_low). Accepted: more than 0.
            Default: 50us. Source: TIMELY §4.4: 50 us.
        delay_high: Delay above which the rate always falls (T_high); auto: 500 us, at least
            10 base RTTs. Accepted: auto, or more than 0. Default: auto. Source: TIMELY
            §4.4: 500 us; more where no RTT is shorter is our own.
        min_rtt: RTT by which differences are divided (minRTT); auto: 20 us, at least half a
            base RTT. Accepted: auto, or more than 0. Default: auto. Source: TIMELY §4.3: 20
            us; more in slower networks is our own.
        max_decrease: Largest share of the rate that a decision between the thresholds
            takes; 1: any. Accepted: 0 < max_decrease <= 1. Default: 1. Source: TIMELY
            Algorithm 1 has no bound.
        additive_increase: Additive step delta; auto: 10 Mb/s for each 10 Gb/s of the link.
            Accepted: auto, or more than 0. Default: auto. Source: TIMELY §4.4: 10 Mb/s at
            10 Gb/s; HPCC's simulator scales it.
        hyper_after: Rises in a row from which steps are larger (N of hyperactive increase).
            Accepted: 1 to 1000. Default: 5. Source: TIMELY §4.3: 5.
        hyper_factor: How many times larger. Accepted: 1 to 1000. Default: 5. Source: TIMELY
            §4.3: 5.
        hyper_below_low: Whether rises below T_low count for it and are larger, too.
            Accepted: true or false. Default: false. Source: TIMELY Algorithm 1: no; HPCC's
            simulator: yes.
        min_rate: Least rate; auto: a thousandth of the link. Accepted: auto, or more than
            0. Default: auto. Source: 10 Mb/s at 10 Gb/s is our own; HPCC's simulator: 100
            Mb/s.
        start: The rate of a new flow: share, its part of the link; line, all of it.
            Accepted: share or line. Default: share. Source: TIMELY §4.1: C/(N+1); HPCC's
            simulator: line.
        pace: What leaves at once. Accepted: packet or segment. Default: packet. Source:
            TIMELY §4.2: segments; HPCC's simulator: packets.
        segment: Payload of a segment in full packets; auto: one packet, with pace = segment
            16 KiB. Accepted: auto, or 1B to 64KB. Default: auto. Source: TIMELY §4.2: 16 to
            64 KB.
        update: When the rate changes: once per RTT, or with each segment. Accepted: round
            or segment. Default: round. Source: HPCC's simulator: a round trip; TIMELY
            Algorithm 1: each completion.
        patched_decrease: Factor of the error with `patched`. Accepted: 0 < patched_decrease
            <= 1. Default: 0.008. Source: ECN or Delay §4.3: 0.008.
        patched_delay: Reference delay with `patched`; auto: T_low. Accepted: auto, or more
            than 0. Default: auto. Source: ECN or Delay §4.3: T_low.
        window_limit: Whether a flow has at most a BDP in flight, less in proportion to its
            rate. Accepted: true or false. Default: false. Source: the paper: none; HPCC's
            simulator: TIMELY+win.
        recovery: How lost packets are sent again; with `sack` a BDP may be in flight at
            most. Accepted: go-back-n or sack. Default: go-back-n. Source: HPCC's simulator:
            go-back-n; sack: Mittal et al., IRN, SIGCOMM 2018.
        nack_interval: Least time between two requests to go back for the same byte; at
            least two base RTTs. Accepted: more than 0. Default: 500us. Source: HPCC's
            simulator: 500 us.
        rto_min: Minimum retransmission timeout. Accepted: more than 0, at most 60s.
            Default: 1ms. Source: own choice.
        control_limit: ACKs that may wait at a port. Accepted: a control packet and more.
            Default: 128KiB. Source: own choice: as REN's.
    """

    _transport: ClassVar[str] = "timely"
    variant: Any = None
    weight: Any = None
    decrease: Any = None
    delay_low: Any = None
    delay_high: Any = None
    min_rtt: Any = None
    max_decrease: Any = None
    additive_increase: Any = None
    hyper_after: Any = None
    hyper_factor: Any = None
    hyper_below_low: Any = None
    min_rate: Any = None
    start: Any = None
    pace: Any = None
    segment: Any = None
    update: Any = None
    patched_decrease: Any = None
    patched_delay: Any = None
    window_limit: Any = None
    recovery: Any = None
    nack_interval: Any = None
    rto_min: Any = None
    control_limit: Any = None


@dataclass(kw_only=True)
class Trd(Parameters):
    """trd: traditional receiver-driven transport (the baseline of the models in REN §4 (IEEE TCC
    2021) and AMRT §5 (ICPP 2020)).

    Args:
        burst: Packets sent without a grant when a flow starts; auto: one bandwidth-delay
            product. Accepted: auto, or 1 and more. Default: auto. Source: REN §2.1: line
            rate in the first RTT.
        order: Which flow of a receiver the next grant is for: none (the packet's) or srpt.
            Accepted: none, srpt. Default: none. Source: AMRT §2: pHost and Homa serve the
            shortest first, a token for each packet that came.
        stall: Receive timeout after which a receiver requests again; auto: 2 base RTT +
            buffer / rate. Accepted: auto, or more than 0. Default: auto. Source: own
            choice: REN and AMRT say nothing about the baseline's losses.
        control_limit: What the control class of a port holds. Accepted: a control packet
            and more. Default: 128KiB. Source: own choice: as large as the data buffer of
            REN §6.
    """

    _transport: ClassVar[str] = "trd"
    burst: Any = None
    order: Any = None
    stall: Any = None
    control_limit: Any = None


@dataclass(kw_only=True)
class Uec(Parameters):
    """uec: Ultra Ethernet, NSCC and RCCC (Ultra Ethernet Consortium, UE specification 1.0, 2025,
    as in its simulator uet-htsim; Bonato et al., SMaRTT-REPS, 2024).

    Args:
        mode: Which congestion controls run. Accepted: nscc, rccc or nscc_rccc. Default:
            nscc. Source: the authors' simulator: nscc.
        trimming: Whether a full queue cuts payloads off instead of dropping packets.
            Accepted: true or false. Default: true. Source: the authors' simulator: on.
        sleek: Whether a source tells losses by how much has arrived beyond them (Sleek),
            for switches that do not cut packets. Accepted: true or false; true needs
            trimming = false. Default: false. Source: the authors' simulator: off.
        path_choice: How a source chooses the path number of each packet. Accepted:
            oblivious, bitmap, reps or mixed. Default: mixed. Source: the authors'
            simulator: mixed.
        entropies: Path numbers of a flow. Accepted: a power of two, 1 to 32768. Default:
            64. Source: the authors' simulator: 64.
        ack_bytes: Bytes that a receiver takes in before it sends an ACK that nothing else
            asks for. Accepted: 1B to 1GB. Default: 16KiB. Source: the authors' simulator.
        target: Queueing delay that windows aim at, in base RTT; auto: 0.75 with trimming, 1
            without. Accepted: 0.01 to 100, or auto. Default: auto. Source: the authors'
            simulator.
        alpha: Increase below the target, as a factor of the published gain. Accepted: 0 to
            1000. Default: 4. Source: the authors' simulator: 4 mss, scaled with BDP and
            target.
        fair: Increase above the target while nothing is marked, in packets, scaled with the
            BDP. Accepted: 0 to 1000. Default: 5. Source: the authors' simulator: 5 mss.
        eta: Increase once per base RTT, in packets, scaled with the BDP. Accepted: 0 to
            1000. Default: 0.15. Source: the authors' simulator: 0.15 mss.
        fast: Increase per byte while there is no queue, scaled with the BDP. Accepted: 0 to
            1000. Default: 0.25. Source: the authors' simulator: 0.25.
        fast_below: Queueing delay below which there is no queue. Accepted: 0ps to 1s.
            Default: 1us. Source: the authors' simulator: 1 us, whatever the rate.
        gamma: Decrease: this share of how far the average delay is above the target, at
            most a half. Accepted: 0 to 1. Default: 0.8. Source: the authors' simulator:
            0.8.
        adapt_share: Quick adaptation needs less than the largest window over this to have
            arrived in a period. Accepted: 1 to 1000000. Default: 8. Source: the authors'
            simulator: a gate of 2^3.
        adapt_delay: Quick adaptation needs a delay of so many targets, if nothing is lost.
            Accepted: 0 to 1000. Default: 4. Source: the authors' simulator: 4.
        learn_base_rtt: Whether a flow lowers its base RTT to its shortest sample. Accepted:
            true or false. Default: true. Source: the authors' simulator: on.
        credit_rate: Share of its link at which a receiver gives credits. Accepted: 0.01 to
            1. Default: 0.99. Source: the authors' simulator: 0.99.
        core_pace: Whether with rccc alone receivers slow down behind an oversubscribed
            core, by marks and by what is cut before the last hop. Accepted: true or false.
            Default: true. Source: the authors' simulator: on where a topology is
            oversubscribed.
        data_queue: Data that may wait at a port and be in transmission; auto: a BDP in full
            packets, without trimming five. Accepted: auto, or two full packets to 1GB.
            Default: auto. Source: the authors' simulator.
        mark_min: Up to this queue of data nothing is marked; auto: a fifth of a BDP, in
            full packets. Accepted: auto, or 1B to 1GB. Default: auto. Source: the authors'
            simulator: 0.2 BDP.
        mark_max: Above this queue of data all is marked; auto: four fifths of a BDP, in
            full packets. Accepted: auto, or 1B to 1GB. Default: auto. Source: the authors'
            simulator: 0.8 BDP.
        rto: A packet of which nothing is heard for so long is lost; auto: 15 us and six
            times what the data queue of a port takes. Accepted: auto, or 1us to 10s.
            Default: auto. Source: the authors' simulator.
    """

    _transport: ClassVar[str] = "uec"
    mode: Any = None
    trimming: Any = None
    sleek: Any = None
    path_choice: Any = None
    entropies: Any = None
    ack_bytes: Any = None
    target: Any = None
    alpha: Any = None
    fair: Any = None
    eta: Any = None
    fast: Any = None
    fast_below: Any = None
    gamma: Any = None
    adapt_share: Any = None
    adapt_delay: Any = None
    learn_base_rtt: Any = None
    credit_rate: Any = None
    core_pace: Any = None
    data_queue: Any = None
    mark_min: Any = None
    mark_max: Any = None
    rto: Any = None


@dataclass(kw_only=True)
class Vcp(Parameters):
    """vcp: VCP (Xia, Subramanian, Stoica and Kalyanaraman, One more bit is enough, SIGCOMM 2005).

    Args:
        interval: Interval t_rho of the load; auto: the base RTT, at least `interval_min`.
            Accepted: auto, or more than 0. Default: auto. Source: VCP §3.1: 200 ms, above
            most round trips; scaled to a data center.
        interval_min: Least interval with `interval = auto`. Accepted: more than 0. Default:
            100us. Source: DECN §II-A: 0.1 ms for MLCP.
        sample: Time between samples of the queue t_q; auto: a twentieth of the interval.
            Accepted: auto, or more than 0. Default: auto. Source: VCP §3.1: 10 ms of 200
            ms.
        increase: Step xi of multiplicative increase. Accepted: 0 < increase <= 1. Default:
            0.0625. Source: VCP §3.2: 0.0625.
        additive: Packets alpha that additive increase adds per RTT. Accepted: 0 < additive
            <= 1000. Default: 1. Source: VCP §3.2: 1.
        decrease: Factor beta of multiplicative decrease. Accepted: 0 < decrease <= 1.
            Default: 0.875. Source: VCP §3.2: 0.875.
        queue_weight: Part kappa of the average queue that counts as load. Accepted: 0 to
            10. Default: 0.5. Source: VCP §3.1: 0.5.
        average_weight: Weight of an interval's queue in its average. Accepted: 0 <
            average_weight <= 1. Default: 0.25. Source: the authors' ns-2 code.
        target: Target utilisation gamma. Accepted: 0 < target <= 1. Default: 0.98. Source:
            VCP §3.1: 0.98.
        high_load: Load from which increase is additive. Accepted: 0 < high_load <= 1.
            Default: 0.8. Source: VCP §3: 80 %.
        scale_max: Maximum number of intervals per RTT by which multiplicative increase is
            scaled. Accepted: 1 to 100. Default: 2.5. Source: the authors' ns-2 code.
        additive_scale_max: Least and most of them for additive increase: 1/n and n.
            Accepted: 1 to 100. Default: 5. Source: the authors' ns-2 code: 20 and 500 of
            100 ms.
        at_nics: Whether NIC ports measure too. Accepted: true or false. Default: true.
            Source: ns-2: every link has one.
        pacing: Whether packets are paced over the RTT. Accepted: true or false. Default:
            true. Source: the authors' ns-2 code for windows below 64.
        window_unit: What windows count and grow by: full segments, or packets of the flow's
            own size. Accepted: segment or packet. Default: segment. Source: own choice, as
            TCP; ns-2 counts packets of any size.
        initial_window: First window, in units of `window_unit`. Accepted: 1 to 1000.
            Default: 2. Source: ns-2: 1 or 2.
        rto_min: Minimum retransmission timeout. Accepted: more than 0, at most 60s.
            Default: 10ms. Source: as DCTCP §4.1: 10 ms; a stock kernel has 200 ms.
        rto_initial: Retransmission timeout before the first sample; auto: `rto_min`.
            Accepted: auto, or more than 0, at most 60s. Default: auto. Source: own choice;
            RFC 6298: 1 s.
    """

    _transport: ClassVar[str] = "vcp"
    interval: Any = None
    interval_min: Any = None
    sample: Any = None
    increase: Any = None
    additive: Any = None
    decrease: Any = None
    queue_weight: Any = None
    average_weight: Any = None
    target: Any = None
    high_load: Any = None
    scale_max: Any = None
    additive_scale_max: Any = None
    at_nics: Any = None
    pacing: Any = None
    window_unit: Any = None
    initial_window: Any = None
    rto_min: Any = None
    rto_initial: Any = None


@dataclass(kw_only=True)
class Xcp(Parameters):
    """xcp: XCP (Katabi, Handley and Rohrs, Congestion control for high bandwidth-delay product
    networks, SIGCOMM 2002).

    Args:
        alpha: Share of the spare bandwidth that is given away per RTT. Accepted: 0 < alpha
            < 0.555. Default: 0.4. Source: XCP §3.5: 0.4, stable below pi / (4 sqrt 2).
        beta: Share of the persistent queue that is drained per RTT. Accepted: 0 to 1.
            Default: 0.226. Source: XCP §3.5: alpha^2 sqrt 2.
        gamma: Share of the traffic that is shuffled between flows in an interval. Accepted:
            0 to 1. Default: 0.1. Source: XCP §3.5.2: 0.1.
        timers: Whether intervals follow the RTT down to packets, or ns-2's floors.
            Accepted: scaled or ns2. Default: scaled. Source: scaled is our own; ns2:
            ns-2.35, xcpq.cc.
        interval_min: Least control interval; auto: two packets' time, or 1 ms with `timers
            = ns2`. Accepted: auto, or more than 0. Default: auto. Source: our own; ns-2.35
            Te_min: 1 ms.
        queue_interval_min: Least interval of the queue's estimate; auto: two packets' time,
            or 2 ms. Accepted: auto, or more than 0. Default: auto. Source: our own; ns-2.35
            Tq_min: 2 ms.
        interval_initial: First control interval; auto: the fabric's base RTT, or 50 ms.
            Accepted: auto, or more than 0. Default: auto. Source: our own; ns-2.35: 50 ms.
        rtt_cap: Longest RTT that counts in a port's average. Accepted: more than 0, at most
            1073ms. Default: 1s. Source: ns-2.35, xcpq.cc: 1 s.
        header: Bytes of the congestion header on data and ACKs. Accepted: 16 or 20.
            Default: 16. Source: DECN Table I: 128 bits; the draft has a word more.
        at_nics: Whether NIC ports measure too. Accepted: true or false. Default: true.
            Source: ns-2: every link has one.
        pacing: Whether packets are paced over the RTT. Accepted: true or false. Default:
            true. Source: our own; XCP is not paced.
        initial_window: First window, in full segments. Accepted: 1 to 1000. Default: 2.
            Source: ns-2: 1 or 2.
        rto_min: Minimum retransmission timeout. Accepted: more than 0, at most 60s.
            Default: 10ms. Source: as DCTCP §4.1: 10 ms; a stock kernel has 200 ms.
        rto_initial: Retransmission timeout before the first sample; auto: `rto_min`.
            Accepted: auto, or more than 0, at most 60s. Default: auto. Source: own choice;
            RFC 6298: 1 s.
        delayed_ack: Data packets acknowledged together; 1 acknowledges each at once.
            Accepted: 1 to 255. Default: 1. Source: the papers' simulators: 1.
        delayed_ack_timeout: Maximum delay of a delayed ACK. Accepted: more than 0. Default:
            1ms. Source: own choice, below `rto_min`.
    """

    _transport: ClassVar[str] = "xcp"
    alpha: Any = None
    beta: Any = None
    gamma: Any = None
    timers: Any = None
    interval_min: Any = None
    queue_interval_min: Any = None
    interval_initial: Any = None
    rtt_cap: Any = None
    header: Any = None
    at_nics: Any = None
    pacing: Any = None
    initial_window: Any = None
    rto_min: Any = None
    rto_initial: Any = None
    delayed_ack: Any = None
    delayed_ack_timeout: Any = None
