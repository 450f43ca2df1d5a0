//! HPCC+ (FastTune §V-A): HPCC whose window is multiplied always and never stepped up.

pub mod headers;
mod params;
#[cfg(test)]
mod tests;

pub use params::Params;

use crate::hpcc::Plan;
use incast_transport::{
    Configured, EcnUse, FabricSite, Info, Kind, ParameterDoc, ParameterError, Routing, Transport,
    TransportId,
};
use std::sync::Arc;

/// HPCC+'s number on the wire.
pub const ID: TransportId = TransportId(20);

/// The catalogue entry.
pub static ENTRY: Entry = Entry;

/// HPCC+.
pub struct Entry;

static INFO: Info = Info {
    name: "hpcc_plus",
    id: ID,
    title: "HPCC+",
    paper: "Zhou et al., FastTune: Timely and Precise Congestion Control in Data Center Network, §V",
    kind: Kind::Window,
    switch_support: "writes time, bytes sent, queue and rate into each packet; made for PFC",
    routing: Routing::Ecmp,
    symmetric_paths: false,
    ecn: EcnUse::None,
    marks: false,
    made_for_pfc: true,
    feedback_bits: None,
    deviations: &[],
};

impl Transport for Entry {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn parameters(&self) -> Vec<ParameterDoc> {
        Params::docs()
    }

    fn configure(
        &self,
        settings: &[(String, String)],
        fabric: Arc<FabricSite>,
    ) -> Result<Arc<dyn Configured>, ParameterError> {
        let params = Params::read(settings)?;
        let resolved = params.resolved();
        Ok(Arc::new(Plan::new(&INFO, params.as_hpcc(), resolved, fabric)?))
    }
}
