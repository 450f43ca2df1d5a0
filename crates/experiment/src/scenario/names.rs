//! Types that are written by name.

use super::dataplane::{Backend, Clock};
use super::field::Field;
use super::node::{Node, Value};
use super::world::World;
use crate::Fault;
use crate::fault::one_of;
use incast_egress::port::Join;
use incast_transport::{Acks, Routing};
use incast_workload::{Algorithm, CollectiveKind, FlowClass, SizeUnit, StartUnit};
use incast_world::{StampAt, Stuck};
use std::convert::Infallible;

/// Enums that are written by name.
macro_rules! by_name {
    ($($ty:ty, $names:expr;)*) => {$(
        impl Field for $ty {
            const KIND: &'static str = "choice";
            type Item = Infallible;
            fn expects() -> String {
                let names: Vec<String> = $names.iter().map(|one| format!("`{}`", one.0)).collect();
                names.join(", ")
            }
            fn read(node: &Node, path: &str) -> Result<$ty, Fault> {
                let names = $names.map(|one| one.0);
                let text = match &node.value {
                    Value::Text(text) => text.as_str(),
                    _ => "",
                };
                let found = $names.into_iter().find(|one| one.0 == text);
                found.map(|one| one.1).ok_or_else(|| {
                    let problem = one_of(text, names);
                    Fault::value(path, node, problem)
                })
            }
            fn write(&self) -> Option<Node> {
                $names.into_iter().find(|one| one.1 == *self).map(|one| Node::text(one.0))
            }
            fn items(&self) -> Vec<&Infallible> {
                vec![]
            }
        }
    )*};
}
by_name! {
    Routing, Routing::NAMES;
    Acks, Acks::NAMES;
    Join, Join::NAMES;
    Stuck, Stuck::NAMES;
    StampAt, StampAt::NAMES;
    World, World::NAMES;
    Backend, Backend::NAMES;
    Clock, Clock::NAMES;
    ForwardingName, ForwardingName::NAMES;
    SizeUnit, SizeUnit::NAMES;
    StartUnit, StartUnit::NAMES;
    NicChoice, NicChoice::NAMES;
    CollectiveKind, CollectiveKind::NAMES;
    Algorithm, Algorithm::NAMES;
    Issue, Issue::NAMES;
    Connections, Connections::NAMES;
    FlowClass, FlowClass::ALL.map(|class| (class.name(), class));
}

/// When messages of a collective are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issue {
    /// When the one before has arrived.
    Serial,
    /// When the rank has what it sends.
    Free,
}

impl Issue {
    /// Both, by name.
    pub const NAMES: [(&'static str, Issue); 2] =
        [("serial", Issue::Serial), ("free", Issue::Free)];
}

/// What is sent over one connection, so that windows, rates and measured times live on from a message to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connections {
    /// One message.
    #[default]
    Message,
    /// All messages from a host to another.
    Pair,
    /// Those of one channel.
    PairChannel,
}

impl Connections {
    /// All, by name.
    pub const NAMES: [(&'static str, Connections); 3] = [
        ("message", Connections::Message),
        ("pair", Connections::Pair),
        ("pair_channel", Connections::PairChannel),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = Connections::NAMES.iter().find(|(_, one)| *one == self);
        found.expect("each has a name").0
    }
}

/// Which NIC a flow takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicChoice {
    /// At random at each end.
    Hash,
    /// Each server's in turn.
    RoundRobin,
    /// Of one number at both ends, in turn.
    Plane,
}

impl NicChoice {
    /// All, by name.
    pub const NAMES: [(&'static str, NicChoice); 3] = [
        ("hash", NicChoice::Hash),
        ("round_robin", NicChoice::RoundRobin),
        ("plane", NicChoice::Plane),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = NicChoice::NAMES.iter().find(|(_, one)| *one == self);
        found.expect("every choice has a name").0
    }
}

/// How switches forward packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardingName {
    /// After the last bit has arrived.
    StoreAndForward,
    /// After the first bytes have arrived, where that is possible.
    CutThrough,
}

impl ForwardingName {
    /// Both, by name.
    pub const NAMES: [(&'static str, ForwardingName); 2] = [
        ("store_and_forward", ForwardingName::StoreAndForward),
        ("cut_through", ForwardingName::CutThrough),
    ];
}
