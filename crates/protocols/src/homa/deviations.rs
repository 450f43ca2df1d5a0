//! How Homa differs from its paper and code. The README explains each under the same number.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        number: 1,
        section: "Homa §3.4",
        what: "Class 0 carries control only, data has classes 1 to 7.",
        reason: "Control must not wait behind data; the authors' best level is shared by data and \
                 grants.",
        effect: Some("S = 7 levels there are S = 6 here."),
    },
    Deviation {
        number: 2,
        section: "Homa §3.1",
        what: "RTTbytes is one number for the fabric, that of the slowest host link. Of a burst \
               that is the flow's own the receiver learns the length with its last packet, and \
               grants nothing before.",
        reason: "Sender and receiver must agree on it; a data header has no room for the length \
                 of a burst.",
        effect: None,
    },
    Deviation {
        number: 3,
        section: "Homa §3.3",
        what: "Packets are the unit of grants and of receivers' ranks; sources rank by bytes.",
        reason: "Grants are per packet.",
        effect: None,
    },
    Deviation {
        number: 4,
        section: "Homa §3.4",
        what: "Cut-offs split what is actually sent unscheduled (`graduated`); without sizes 3 of \
               7 levels are unscheduled.",
        reason: "The authors' code splits by message size and applies it to what remains.",
        effect: Some("Classes are equal within 3 % with web search sizes."),
    },
    Deviation {
        number: 5,
        section: "Homa §3.5",
        what: "Scheduled packets in flight are limited to K x RTTbytes in all.",
        reason: "Messages that lack few packets would all get them at once.",
        effect: Some(
            "40 messages of RTTbytes + 1 packet, K = 2: 16 instead of 40 grants at an instant.",
        ),
    },
    Deviation {
        number: 6,
        section: "Homa §3.7",
        what: "RESEND asks for every missing range (`all`); `first` is the paper's.",
        reason: "As the Linux module does now.",
        effect: Some("Incast of 40 x 8 packets into 64 KiB: 3.2 instead of 5.2 ms."),
    },
    Deviation {
        number: 7,
        section: "Homa §3.7",
        what: "The first packet of a message is sent again after three RESEND intervals of silence.",
        reason: "A one-way message that is lost as a whole is unknown to its receiver.",
        effect: None,
    },
    Deviation {
        number: 8,
        section: "Homa §3.7",
        what: "A message that is given up is set aside and keeps what has arrived.",
        reason: "RPCs would fail instead; one-way flows must complete.",
        effect: None,
    },
    Deviation {
        number: 9,
        section: "Homa §3.7",
        what: "The RESEND interval is not the round trip.",
        reason: "The timer takes waiting in the lowest class for loss.",
        effect: Some(
            "K = 4, four messages of 2.9 MB: 73 duplicates of 8,000 packets; at 100 us the \
             queue grows to 619 KB, at 20 us it collapses.",
        ),
    },
    Deviation {
        number: 10,
        section: "Homa §3.1",
        what: "RPCs, ACKs of their clean-up and incast control are left out.",
        reason: "A one-way flow has no request.",
        effect: None,
    },
    Deviation {
        number: 11,
        section: "Homa §3.4",
        what: "Eight classes fill a port.",
        reason: "A port has eight; beside another transport share the queues or set `priorities` \
                 lower.",
        effect: None,
    },
];
