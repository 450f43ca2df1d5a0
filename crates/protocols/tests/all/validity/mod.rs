//! Transports in the simulator compared with independent results: formulas, an oracle for fair
//! rates, and invariance under a change of units.

mod fairness;
mod lone;
mod network;
mod oracle;
mod scaling;
