//! Transports in the simulator against what is known without one: formulas, an oracle for fair
//! rates, and the units of measurement.

mod fairness;
mod lone;
mod network;
mod oracle;
mod scaling;
