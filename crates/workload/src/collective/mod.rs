//! Collectives: messages between ranks, each of which starts when its source has what it sends.

mod algorithms;
mod check;
mod program;
mod spec;

use crate::traffic::{Shape, Traffic};
use incast_units::Fault;
use program::Program;
pub use spec::{Algorithm, Collective, CollectiveGroup, CollectiveKind, Message};

/// The messages of a collective. The computation of a rank before an iteration begins when everything that
/// was sent to it in the iteration before has arrived; a rank that is sent nothing, such as the root of a
/// broadcast, waits until what it sent has arrived. If messages are not sent in turn, and there is one chunk, every other
/// message waits for what ended at its source alone, so that several threads can work on a run.
///
/// # Errors
/// Rejects hosts that do not exist or are named twice, fewer than two ranks, an algorithm that the
/// collective does not have or that needs another number of ranks, sizes of less than a byte for each message,
/// shares that do not sum to 1, a rank that does not exist, and more than 2^22 messages.
pub fn collective(shape: &Shape, spec: &Collective) -> Result<Traffic, Fault> {
    check::check(shape, spec)?;
    let mut program = Program::new(spec);
    for iteration in 0..spec.iterations {
        program.begin(iteration);
        for channel in 0..spec.channels {
            program.channel(channel);
            for chunk in 0..spec.chunks {
                let lane = u64::from(channel * spec.chunks + chunk);
                algorithms::run(&mut program, lane);
                program.next_chunk();
            }
        }
        program.end();
    }
    Ok(program.traffic())
}
