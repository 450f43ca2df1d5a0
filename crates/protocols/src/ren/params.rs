//! Parameters.

use incast_transport::{Bytes, Span, choice};

choice! {
    /// How a port treats marks whose effect it has not seen yet.
    pub enum Feedback {
        /// Marks of the period that just ended are subtracted from the next sample.
        Compensate = "compensate",
        /// Every sample becomes marks unchanged, as in the paper's text.
        Literal = "literal",
    }
}

choice! {
    /// Which packets stay marked as under-utilisation.
    pub enum Rule {
        /// As many a period as would have fitted into its idle time (REN §3.2.2).
        Budget = "budget",
        /// Those with a gap of their own that is long enough (REN §3.2.3, Fig. 7).
        Gap = "gap",
    }
}

choice! {
    /// Which packets of a period get the marks.
    pub enum Spread {
        /// The first ones.
        Head = "head",
        /// Evenly spaced over as many packets as the last period had.
        Even = "even",
    }
}

choice! {
    /// Which packets a period's marks of under-utilisation are spent on.
    pub enum Spend {
        /// Those that no earlier hop has raised.
        Unmarked = "unmarked",
        /// Any; spent on a raised packet, a mark has no effect.
        Any = "any",
    }
}

choice! {
    /// Which queue of a period counts.
    pub enum Sample {
        /// The one at its end.
        Last = "last",
        /// The shortest one.
        Least = "least",
    }
}

choice! {
    /// Which marks are taken for those of the last base RTT.
    pub enum Window {
        /// All of the periods that a base RTT reaches into, however long silence made them.
        Periods = "periods",
        /// Those that left within a base RTT.
        Elapsed = "elapsed",
    }
}

incast_transport::parameters! {
    /// Parameters of REN.
    pub struct Params for "ren" {
        /// Sampling period of the switches; auto: the base RTT.
        period: Option<Span> = None, "auto, or more than 0" => |v| v.is_none_or(|v| v.0 > 0),
            "REN §3.2.3, §6.4";
        /// Whether marks in flight count: compensate or literal.
        feedback: Feedback = Feedback::Compensate, "compensate, literal" => |_| true,
            "REN §3.2.1 is silent; literal empties the network whenever two flows start together";
        /// Marks that count as in flight: those of whole periods or those of the elapsed base RTT.
        recent: Window = Window::Periods, "periods, elapsed" => |_| true,
            "REN is silent; after a gap in the traffic, periods still has the marks before it";
        /// Under-utilisation by the period's budget or by each packet's gap: budget or gap.
        rule: Rule = Rule::Budget, "budget, gap" => |_| true, "REN §3.2.2 (budget), Fig. 7 (gap)";
        /// Which packets get a period's marks: head or even.
        spread: Spread = Spread::Head, "head, even" => |_| true, "REN is silent; the next ones to leave";
        /// Packets that marks of under-utilisation are spent on: unmarked or any.
        spend: Spend = Spend::Unmarked, "unmarked, any" => |_| true,
            "REN §3.2.3: under only if every hop says so; any spends marks that a hop before undid";
        /// Which queue of a period is compared with its idle time: last or least.
        sample: Sample = Sample::Last, "last, least" => |_| true,
            "REN §3.2.3, §5.1: the queue at the end of a period; least is an ablation";
        /// Whether a port with room leaves every packet of a period as it is.
        leave_all: bool = false, "true or false" => |_| true,
            "REN §3.2.2: as many as would have fitted; true is an ablation";
        /// Whether NICs withhold marks of under-utilisation as switch ports do.
        at_nics: bool = true, "true or false" => |_| true,
            "REN §5.1 has switches only; ns-2 (REN §6) marks in every link's queue";
        /// Packets sent without a grant when a flow starts; auto: one bandwidth-delay product.
        burst: Option<u32> = None, "auto, or 1 and more" => |v| v.is_none_or(|v| v > 0),
            "REN §2.1, §4.1: line rate in the first RTT";
        /// Receive timeout after which a receiver requests again; auto: 2 base RTT + buffer / rate.
        stall: Option<Span> = None, "auto, or more than 0" => |v| v.is_none_or(|v| v.0 > 0),
            "REN is silent about losses and stalls";
        /// What the control class of a port holds.
        control_limit: Bytes = Bytes::from_kib(128), "a control packet and more" => |v| v.0 > 0,
            "REN is silent; as large as the data buffer of REN §6";
    }
}
