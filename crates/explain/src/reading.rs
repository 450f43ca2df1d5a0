//! An explanation as the record of a run gives it.

use crate::control::{control, silences};
use crate::events::{events, kind_name};
use crate::explanation::{Explanation, FlowFacts, LossFacts, PART_NAMES, PartFacts};
use crate::fronts::{hops, port_waits};
use crate::pauses::pauses;
use crate::verdict::verdict;
use incast_measure::Run;
use incast_measure::columns::place;
use incast_transport::{EventKind, Parts, TraceEvent, flag};

/// The parts in the order of [`PART_NAMES`], picoseconds.
fn values(parts: &Parts) -> [u64; 14] {
    let [ready, grant, credit, window, pacing] = parts.blocked;
    let [nic, edge, aggregation, core] = parts.queueing;
    let Parts { nic_own, nic_other, recovery, serialisation, propagation, .. } = *parts;
    let sender = [nic_own, nic_other, ready, grant, credit, window, pacing, recovery];
    let path = [serialisation, propagation, nic, edge, aggregation, core];
    let mut all = [0; 14];
    all[..8].copy_from_slice(&sender);
    all[8..].copy_from_slice(&path);
    all
}

impl Explanation {
    /// Of a flow of a run whose trace has the flow's events at its hosts and on its path. Panics if
    /// the run has no such flow.
    pub fn of(run: &Run, flow: u32) -> Explanation {
        let facts = FlowFacts::of(run, flow);
        let record = &run.record.flows[flow as usize];
        let total = facts.fct_ps.unwrap_or(0);
        let share = |ps: u64| if total > 0 { ps as f64 / total as f64 } else { 0.0 };
        let parts = record.parts.iter().flat_map(|parts| PART_NAMES.into_iter().zip(values(parts)));
        let parts: Vec<PartFacts> = parts
            .map(|((name, meaning), ps)| PartFacts { name, meaning, ps, share: share(ps) })
            .collect();
        let worst = record.last.filter(|last| last.worst_wait > 0);
        let start = facts.start_ps.unwrap_or(0);
        let mut all = Explanation {
            run: run.label.clone(),
            worst_port: worst
                .map(|last| (run.ports[last.worst_port as usize].name.clone(), last.worst_wait)),
            hops: hops(run, flow),
            waits: port_waits(run, flow),
            losses: losses(run, flow, start),
            silences: silences(run, flow),
            pauses: pauses(run, flow),
            control: control(run, flow),
            verdict: vec![],
            others: vec![],
            notes: vec![],
            flow: facts,
            parts,
        };
        all.note(run);
        all.name_others(run);
        all.verdict = verdict(&all, run.base_rtt.0);
        all
    }

    /// Takes who held the links that were paused from a run with a trace of the switches that paused
    /// them, and says it.
    pub fn add_holders(&mut self, run: &Run) {
        crate::pauses::add_holders(run, &mut self.pauses);
        self.name_others(run);
        self.verdict = verdict(self, run.base_rtt.0);
    }

    /// What is uncertain.
    fn note(&mut self, run: &Run) {
        match &run.record.trace {
            None => self.notes.push("the run has no trace: only its columns are known".into()),
            Some(trace) if trace.cut_at.is_some() => {
                let until = trace.events.last().map_or(0, |event| event.at.0);
                self.notes.push(format!(
                    "the trace was cut off at {} events, {} into the run: what came later is missing",
                    trace.events.len(),
                    crate::words::time(until)
                ));
            }
            Some(_) => {}
        }
        if self.flow.fct_ps.is_none() {
            self.notes.push("the flow did not complete: there is no breakdown of its time".into());
        }
    }

    /// Looks up the flows that were in front, or held a link.
    fn name_others(&mut self, run: &Run) {
        let fronts = self.hops.iter().flat_map(|hop| &hop.fronts);
        let waits = self.waits.iter().flat_map(|wait| &wait.fronts);
        let flows = fronts.chain(waits).filter_map(|front| front.flow);
        let held = self.pauses.iter().flat_map(|pause| &pause.holders).map(|holder| holder.flow);
        let mut known: Vec<u32> = flows.chain(held).filter(|flow| *flow != self.flow.id).collect();
        known.sort_unstable();
        known.dedup();
        self.others = known.into_iter().map(|flow| FlowFacts::of(run, flow)).collect();
    }
}

fn losses(run: &Run, flow: u32, start: u64) -> Vec<LossFacts> {
    use EventKind::{Bounced, Dropped, Lost, Trimmed};
    let lost = |event: &&TraceEvent| matches!(event.kind, Dropped | Trimmed | Bounced | Lost);
    let one = |event: &TraceEvent| {
        let packet = event.packet.as_ref()?;
        Some(LossFacts {
            after_ps: event.at.0.saturating_sub(start),
            port: place(run, event).to_string(),
            how: event.kind.name(),
            packet: kind_name(packet),
            number: packet.number,
            retransmission: packet.flags & flag::RETRANSMIT != 0,
            queue_bytes: event.queue,
        })
    };
    events(run, flow).filter(lost).filter_map(one).collect()
}
