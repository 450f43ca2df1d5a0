//! There is no paper to differ from.

use incast_transport::Deviation;

pub(super) const DEVIATIONS: &[Deviation] = &[];
