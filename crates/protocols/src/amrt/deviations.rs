//! How AMRT differs from its paper. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "Eq. 1, 2",
        what: "The interval is the idle gap before a packet, not the difference of dequeue \
               times. It lies between data packets (AMRT §3); `gap_after = any` counts grants, too \
               (\"packets\" in AMRT §4.1).",
        reason: "With dequeue times a saturated link would mark everything. Where grants end a gap and \
                 data goes both ways, one lies in nearly every gap, and AMRT hardly grows.",
        effect: Some(
            "amrt/fig12 as compared, three seeds, with `gap_after = any`: mean FCT 3 to 43 % higher at \
             loads 0.3 and 0.5.",
        ),
    },
    Deviation {
        number: 2,
        section: "Eq. 2",
        what: "A gap of exactly one packet counts.",
        reason: "Eq. 2 says >=, the text says greater; figure 5 needs >=.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "AMRT §6",
        what: "The timeout is base RTT + two full data queues per hop + 1 us; `strict_1rtt` is \
               the paper's 1 RTT.",
        reason: "A full queue exceeds one RTT.",
        effect: Some(
            "Before 6 and 7, the timeout of 1 RTT sent 7.4 instead of 6.3 % of packets again; 9.8 instead \
             of 0.2 % of these without a drop.",
        ),
    },
    Deviation {
        number: 4,
        section: "AMRT §4.2",
        what: "Duplicates return an unmarked grant.",
        reason: "The paper does not specify it; a duplicate says nothing about spare bandwidth.",
        effect: None,
    },
    Deviation {
        number: 5,
        section: "AMRT §6",
        what: "A grant is replaced one timeout after data of a later one arrived; without arrivals \
               one probe is sent at doubling intervals (`recovery = passed`; the paper's timer \
               is `paper`).",
        reason: "The paper's timer counts packets as lost that are queued in a NIC or were never \
                 sent, and nothing reduces the number of tokens.",
        effect: Some(
            "Web search at load 0.6, before 6 and 7: 6.3 instead of 58 % of packets sent again; mean FCT \
             1,069 instead of 2,423 us, short flows 85 instead of 58 us.",
        ),
    },
    Deviation {
        number: 6,
        section: "AMRT §4.1",
        what: "NICs clear the mark as switch ports do, without a limit of their queues (`at_nics`).",
        reason: "ns-2 marks in every link's queue; otherwise the tokens of flows that share a NIC \
                 grow up to the flows' size.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "AMRT §6",
        what: "A packet that a later one overtook is asked for in the next grant, not after the \
               timeout; where packets take several paths, once it is further behind than they \
               spread. A burst's lost tail is asked for as a whole once its first packet has come.",
        reason: "ECMP keeps a flow in order (AMRT §8.1), so the packet is lost; the timeout is for \
                 what no later packet tells, and that of each packet of a tail has passed by then.",
        effect: Some(
            "A loss takes a packet from those that its flow has under way; with `losses = \
             reissued` it does not. `named` asks for one packet of a tail per timeout. Packets of the \
             first burst say how many follow.",
        ),
    },
    Deviation {
        number: 8,
        section: "AMRT §6",
        what: "A source that hears nothing sends packet 0 again after the timeout, and the last \
               packet after 32.",
        reason: "A receiver cannot ask for a flow of which nothing has come, nor tell a source \
                 that its finish was lost.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "AMRT §4, §6",
        what: "Grants and finishes have a queue of their own, before the data.",
        reason: "The limit of 8 packets is one of data; the paper names no class of grants.",
        effect: None,
    },
];
