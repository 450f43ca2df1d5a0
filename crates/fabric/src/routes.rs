//! Shortest-path routes with all equal-cost ports: tables, or closed forms where the fabric has one.

use crate::clos::{Clos, Closed};
use crate::parts::{NodeId, PortId};

/// Where the ports of a group lie in the pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub start: u32,
    pub len: u16,
    /// 1 at the edge switch of the destination, where each host has a port of its own; else 0.
    pub own: u16,
}

/// Which column a host's routes stand in, and its number under its edge switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub column: u32,
    pub local: u32,
}

/// For every switch and destination host, the equal-cost ports of all shortest paths.
#[derive(Clone, Debug)]
pub struct Routes {
    pub(crate) hosts: u32,
    pub(crate) form: Form,
}

#[derive(Clone, Debug)]
pub(crate) enum Form {
    Tables(Tables),
    /// Of a fabric in which no link has failed.
    Closed(Closed),
}

/// Hosts under one edge switch share a column, so the table of a fabric of a thousand hosts fits
/// a first-level cache; at their own edge switch the host's number selects its port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub columns: u32,
    pub table: Vec<Group>,
    pub column: Vec<Column>,
    pub pool: Vec<PortId>,
}

impl Routes {
    pub(crate) fn empty() -> Routes {
        Routes { hosts: 0, form: Form::Tables(Tables::default()) }
    }

    /// The counts from which the routes follow, if they have a closed form.
    pub(crate) fn clos(&self) -> Option<&Clos> {
        match &self.form {
            Form::Closed(closed) => Some(closed.clos()),
            Form::Tables(_) => None,
        }
    }

    /// The equal-cost egress ports of `switch` towards host `dst`, in an order that depends only on
    /// the topology; empty when `dst` cannot be reached. Panics when `switch` is not a switch or
    /// `dst` not a host.
    #[inline]
    pub fn next(&self, switch: NodeId, dst: u32) -> &[PortId] {
        let switch = switch.0 - self.hosts;
        let ((start, len), pool) = match &self.form {
            Form::Closed(closed) => (closed.find(switch, dst), &closed.pool),
            Form::Tables(tables) => (tables.find(switch, dst), &tables.pool),
        };
        &pool[start as usize..start as usize + len as usize]
    }

    /// A number of the group `next(switch, dst)`, below [`Routes::group_bound`]: equal for two
    /// destinations exactly when they share the switch and all its ports towards them. Index for
    /// state per switch and destination group. Of no meaning when the group is empty.
    #[inline]
    pub fn group(&self, switch: NodeId, dst: u32) -> u32 {
        let switch = switch.0 - self.hosts;
        match &self.form {
            Form::Closed(closed) => closed.clos().group(switch, dst),
            Form::Tables(tables) => tables.find(switch, dst).0,
        }
    }

    /// All group numbers are below this.
    pub fn group_bound(&self) -> u32 {
        match &self.form {
            Form::Closed(closed) => closed.pool.len() as u32,
            Form::Tables(tables) => tables.pool.len() as u32,
        }
    }
}

impl Tables {
    #[inline]
    fn find(&self, switch: u32, dst: u32) -> (u32, u16) {
        let Column { column, local } = self.column[dst as usize];
        let group = self.table[switch as usize * self.columns as usize + column as usize];
        (group.start + local * group.own as u32, group.len)
    }
}
