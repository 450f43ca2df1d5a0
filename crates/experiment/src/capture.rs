//! The file of captured packets.

use crate::Fault;
use crate::plan::Plan;
use incast_wire::pcapng;
use incast_world::{Captured, PacketSink};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// The file of captured packets in a results folder.
pub const CAPTURES: &str = "ports.pcapng";

/// A file of captured packets that is being written: readable, up to its last complete block, at any
/// time.
pub struct PcapFile {
    /// Not there once the file is complete.
    writer: Option<pcapng::Writer<BufWriter<File>>>,
    interfaces: BTreeMap<u32, pcapng::Interface>,
}

impl PcapFile {
    /// Begins the file of these ports of a plan.
    pub fn create(folder: &Path, plan: &Plan, ports: &[u32]) -> Result<PcapFile, Fault> {
        let path = folder.join(CAPTURES);
        let fail = |error: io::Error| Fault::unwritten(error).placed(path.display().to_string());
        let out = BufWriter::new(File::create(&path).map_err(fail)?);
        let version = format!("incast {}", env!("CARGO_PKG_VERSION"));
        let snap = plan.scenario.output.pcap_snap;
        let mut writer = pcapng::Writer::with_snap_length(out, &version, snap).map_err(fail)?;
        let mut interfaces = BTreeMap::new();
        for port in ports {
            let spec = &plan.fabric.ports()[*port as usize];
            let (from, to) = (plan.fabric.node_name(spec.node), plan.fabric.node_name(spec.peer));
            let interface = writer.interface(&format!("{from}->{to}"), spec.rate).map_err(fail)?;
            interfaces.insert(*port, interface);
        }
        Ok(PcapFile { writer: Some(writer), interfaces })
    }
}

impl PacketSink for PcapFile {
    fn packet(&mut self, one: &Captured) -> io::Result<()> {
        let writer = self.writer.as_mut().expect("the file is not complete");
        writer.packet(self.interfaces[&one.port], one.at, &one.packet, &one.extension)
    }

    fn finish(&mut self) -> io::Result<()> {
        match self.writer.take() {
            Some(writer) => writer.finish().map(drop),
            None => Ok(()),
        }
    }
}
