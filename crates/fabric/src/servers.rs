//! Servers with several NICs. Each NIC is a host; those of a server are neighbours in number.

use crate::Fabric;
use incast_units::fault::{Problem, expected, wrong};
use std::ops::Range;

impl Fabric {
    /// Whether some server has several NICs.
    pub fn has_servers(&self) -> bool {
        !self.first_nic.is_empty()
    }

    /// Number of servers: of hosts, where each has one NIC.
    pub fn servers(&self) -> u32 {
        match self.first_nic.len() as u32 {
            0 => self.hosts,
            ends => ends - 1,
        }
    }

    /// The hosts that are the NICs of a server. Panics when there is no such server.
    pub fn nics_of(&self, server: u32) -> Range<u32> {
        match self.first_nic.as_slice() {
            [] => server..server + 1,
            first => first[server as usize]..first[server as usize + 1],
        }
    }

    /// The server of which a host is a NIC.
    pub fn server_of(&self, host: u32) -> u32 {
        match self.first_nic.as_slice() {
            [] => host,
            first => first.partition_point(|first| *first <= host) as u32 - 1,
        }
    }

    /// Whether there is a path from one host to another while no link has failed: planes that only servers
    /// join have none.
    pub fn is_reachable(&self, src: u32, dst: u32) -> bool {
        let (rack, own) = (self.rack_of(src), self.rack_of(dst));
        rack == own || !self.routes.next(rack, dst).is_empty()
    }

    /// The name of a host as a NIC of its server: `server3/nic1`.
    pub(crate) fn nic_name(&self, host: u32) -> String {
        let server = self.server_of(host);
        format!("server{server}/nic{}", host - self.nics_of(server).start)
    }

    /// The host of a name such as `server3/nic1`, or what there is instead; `None` if the name is of
    /// another form.
    pub(crate) fn nic_named(&self, name: &str) -> Option<Result<u32, Problem>> {
        let rest = name.strip_prefix("server")?;
        let (server, nic) = match rest.split_once("/nic") {
            Some((server, nic)) => (server, Some(nic)),
            None => (rest, None),
        };
        if !self.has_servers() {
            let problem = format!("`{}` has hosts with one NIC", self.name);
            return Some(Err(wrong(problem).expected("host0 and so on")));
        }
        let last = self.servers() - 1;
        let known = server.parse().ok().filter(|server: &u32| *server <= last);
        let Some(server) = known else {
            return Some(Err(expected(format!("server0 to server{last}"))));
        };
        let nics = self.nics_of(server);
        let own = match nic {
            Some(nic) => nic.parse().ok(),
            None => (nics.len() == 1).then_some(0),
        };
        let found = own.filter(|own: &u32| *own < nics.len() as u32);
        Some(found.map(|own| nics.start + own).ok_or_else(|| {
            expected(format!("server{server}/nic0 to server{server}/nic{}", nics.len() - 1))
        }))
    }
}
