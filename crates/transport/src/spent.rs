//! Where the time of a flow went so far.

/// Number of port tiers: NIC, edge, aggregation, core.
pub const TIERS: usize = 4;

/// Number of [`Reason`]s.
pub const REASONS: usize = 5;

/// Why a flow with data to send is not sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Reason {
    /// Not blocked: it waits only for the NIC, or has no data left to send.
    #[default]
    Ready,
    /// Waiting for a grant, token or pull.
    Grant,
    /// Waiting for a credit.
    Credit,
    /// The window is full.
    Window,
    /// Waiting for the pacer.
    Pacing,
}

/// What a flow's sender has done up to an instant, in picoseconds. What is missing to the time since
/// its start is waiting for a NIC that was busy with other flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Spent {
    /// NIC time spent on the flow.
    pub own: u64,
    /// Waiting, by [`Reason`]; with [`Reason::Ready`] only while the NIC was idle.
    pub blocked: [u64; REASONS],
}

/// The time since a flow last sent something new, carried by packets that end a long wait and by
/// retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Gap {
    /// Departure of the packet that carries it; of another packet, if it carries none.
    pub until: u64,
    /// End of the flow's last transmission of new data; its start, if there was none.
    pub since: u64,
    /// What the sender had done by then.
    pub spent: Spent,
}
