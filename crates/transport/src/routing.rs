//! Which way packets take.

/// Load balancing over equal-cost links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Routing {
    /// A hash of the flow, with one seed per switch.
    Ecmp,
    /// A hash that is equal in both directions: ACKs and grants take the reverse path of the data.
    SymmetricEcmp,
    /// A random link per packet.
    Spray,
    /// The next link of a random permutation per packet. The permutation is redrawn after each
    /// round.
    RoundRobin,
    /// The next link in turn per packet, with one counter per source host.
    SourceRoundRobin,
    /// The packet's `path` field, set by the source. In a fabric of two or three tiers distinct
    /// values below the number of paths select distinct paths.
    SourcePath,
    /// A hash of the flow and the packet's `path` field (its entropy), with one seed per switch. Where the
    /// source sets none, each data packet draws one of a number per flow.
    Entropy,
    /// The link with the shortest queue when the packet arrives.
    LeastQueue,
    /// The link with the shortest queue of some drawn at random and the best of the packet before (DRILL).
    Drill,
    /// A random link for each flowlet: what a flow sends without a longer pause (LetFlow).
    Flowlet,
    /// For each flowlet the link of the path that is congested least, as the leaf of the destination
    /// tells (CONGA).
    Conga,
    /// A hash of the flow and its path number at each switch; its source takes the next number when
    /// congestion lasts (PLB). For transports that say so
    /// ([`moves_flows`](crate::Transport::moves_flows)).
    Plb,
    /// The path that the scenario fixes for the flow, and its reverse for ACKs and grants. Flows
    /// without a fixed path take symmetric ECMP.
    Paths,
    /// [`Ecmp`](Routing::Ecmp) by the [connection](crate::Connection) of the flow: its messages take one path.
    /// It has no name of its own: a transport has it in runs with connections.
    EcmpOfConnections,
    /// [`SymmetricEcmp`](Routing::SymmetricEcmp) in the same way.
    SymmetricEcmpOfConnections,
}

impl Routing {
    /// All variants with their names in scenarios.
    pub const NAMES: [(&'static str, Routing); 13] = [
        ("ecmp", Routing::Ecmp),
        ("symmetric-ecmp", Routing::SymmetricEcmp),
        ("spray", Routing::Spray),
        ("round-robin", Routing::RoundRobin),
        ("source-round-robin", Routing::SourceRoundRobin),
        ("source-path", Routing::SourcePath),
        ("entropy", Routing::Entropy),
        ("least-queue", Routing::LeastQueue),
        ("drill", Routing::Drill),
        ("flowlet", Routing::Flowlet),
        ("conga", Routing::Conga),
        ("plb", Routing::Plb),
        ("paths", Routing::Paths),
    ];

    /// Whether the packets of a flow arrive in the order in which they were sent: then a packet
    /// that a later one overtook is lost.
    pub fn keeps_order(self) -> bool {
        matches!(self.plain(), Routing::Ecmp | Routing::SymmetricEcmp | Routing::Paths)
    }

    /// Whether sources give packets their path numbers: those of transports that have it in their
    /// paper, and with `plb` all.
    pub fn is_of_sources(self) -> bool {
        matches!(self, Routing::SourcePath | Routing::Entropy | Routing::Plb)
    }

    /// The same in a run with connections; none if the messages of one might overtake each other because the routing
    /// takes a path for each flow.
    pub fn of_connections(self) -> Option<Routing> {
        match self {
            Routing::Ecmp => Some(Routing::EcmpOfConnections),
            Routing::SymmetricEcmp => Some(Routing::SymmetricEcmpOfConnections),
            Routing::Flowlet | Routing::Conga | Routing::Plb | Routing::Paths => None,
            each_packet => Some(each_packet),
        }
    }

    /// The same in a run without connections.
    pub fn plain(self) -> Routing {
        match self {
            Routing::EcmpOfConnections => Routing::Ecmp,
            Routing::SymmetricEcmpOfConnections => Routing::SymmetricEcmp,
            other => other,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = Routing::NAMES.iter().find(|(_, how)| *how == self.plain());
        found.map(|(name, _)| *name).expect("all have names")
    }
}
