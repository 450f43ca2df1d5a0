//! The worlds in which a network can run.

/// What runs a network. Records and captures do not depend on it unless the data plane's clock is
/// real time, apart from [`RunRecord::events`](incast_transport::RunRecord::events), which are
/// events of the simulator and frames of the data plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum World {
    /// The event simulator.
    #[default]
    Sim,
    /// The data plane: hosts and software switches that exchange encoded frames, in one thread.
    DataPlane,
    /// Flow level: flows share links by max-min fairness, in one thread; there are no packets.
    Flow,
}

impl World {
    /// Every world by name.
    pub const NAMES: [(&'static str, World); 3] =
        [("sim", World::Sim), ("dataplane", World::DataPlane), ("flow", World::Flow)];

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = World::NAMES.iter().find(|(_, world)| *world == self);
        found.map(|(name, _)| *name).expect("every world has a name")
    }
}
