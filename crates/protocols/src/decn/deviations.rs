//! How DECN differs from its paper. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "DECN §III-C",
        what: "The next feedback unit starts 3 t_p after the last change (`cadence = guard`), not \
               every t_p.",
        reason: "Units in flight repeat the same error.",
        effect: Some(
            "Two flows, 10 Gb/s, 100 to 400 us: utilisation 99 % and no loss instead of 0.2 \
             to 20 %.",
        ),
    },
    Deviation {
        number: 2,
        section: "Algorithm 1",
        what: "The code is offset binary: 2048 is no difference.",
        reason: "Comparing nibbles then compares differences; the algorithm's shift gives a \
                 nibble for k = 0 only.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "DECN §III-C",
        what: "The unit of the difference is scaled to the fastest link (`unit = scaled`), 8 Mb/s \
               at 10 Gb/s.",
        reason: "Steps of 1 Mb/s in 12 bits represent at most 2,047 Mb/s.",
        effect: Some("From nothing to 90 % of 10 Gb/s in 0.2 instead of 1.8 ms."),
    },
    Deviation {
        number: 4,
        section: "DECN §III-B",
        what: "One decision keeps at least half of the rate (`decrease_floor`).",
        reason: "The share of the backlog alone can exceed C.",
        effect: Some(
            "400 flows: utilisation 96 %, Jain's index 0.997; at 0.75 it is 0.4 from 200 \
             flows on.",
        ),
    },
    Deviation {
        number: 5,
        section: "Eq. 1",
        what: "A measurement spans at least three packets of the flow, at most 20 t_p.",
        reason: "With fewer, one packet more or less is the complete difference.",
        effect: None,
    },
    Deviation {
        number: 6,
        section: "DECN §III-B",
        what: "A flow is active if it was seen within 20 t_p; one that returns later is \
               measured anew.",
        reason: "The paper does not define it.",
        effect: None,
    },
    Deviation {
        number: 7,
        section: "DECN §III-B",
        what: "New flows have no measured rate: they get the capacity that the last period left \
               free, granted once.",
        reason: "The paper does not describe the first periods.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "DECN §III-B",
        what: "The backlog of a flow is its minimum since the measurement started.",
        reason: "As XCP's persistent queue: bursts are no backlog.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "DECN §III-B",
        what: "Ports and senders count charged bytes.",
        reason: "Otherwise links are overloaded by 2.5 %.",
        effect: None,
    },
    Deviation {
        number: 10,
        section: "",
        what: "A loss halves the rate, at most once per RTT; a timeout lowers it to the rate of a \
               new flow.",
        reason: "A unit needs three intact packets: under loss no flow would slow down.",
        effect: None,
    },
    Deviation {
        number: 11,
        section: "",
        what: "The least rate is one packet per millisecond.",
        reason: "A starved flow recovers in 3 ms.",
        effect: None,
    },
    Deviation {
        number: 12,
        section: "DECN §III-C",
        what: "ACKs of a unit must arrive in order; a unit is given up after 2 RTT + 4 t_p + 6 \
               packets.",
        reason: "The nibbles of a reordered unit form another code.",
        effect: None,
    },
    Deviation {
        number: 13,
        section: "",
        what: "Ports start at a random phase.",
        reason: "Otherwise all ports of a run measure at the same instants.",
        effect: None,
    },
    Deviation {
        number: 14,
        section: "",
        what: "Reliability is the common sender's: SACK, RTO at least 10 ms.",
        reason: "The paper describes none.",
        effect: None,
    },
    Deviation {
        number: 15,
        section: "DECN §III-A",
        what: "A difference is added to what the flow sent since its last change, if that is less \
               than its rate (`from_sent`).",
        reason: "It is what ports measured.",
        effect: Some("decn/fig10, 600 flows, load 0.2: mean FCT 1.58 instead of 1.76 ms."),
    },
    Deviation {
        number: 16,
        section: "DECN §III-B",
        what: "NICs do not measure and assign rates as switch ports do; those of XCP, VCP and MLCP do \
               (`at_nics`).",
        reason: "The paper has switches alone; the flows of a NIC share it by turns.",
        effect: Some(
            "Without ports at NICs, 600 flows of decn/fig10 at load 0.8 on 48 hosts, one seed: mean FCT of XCP 1, of VCP \
             5 % lower, of MLCP the same.",
        ),
    },
];
