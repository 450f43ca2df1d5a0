//! `Lab`.

use super::convert::{Refused, alive, known, refused, texts_of_files, time, used_up};
use crate::scenario::Files;
use crate::{Folder, Lab};
use incast_sim::PortState;
use wasm_bindgen::prelude::*;

/// One run, step by step.
#[wasm_bindgen(js_name = Lab)]
pub struct JsLab {
    lab: Option<Lab>,
    files: Files,
}

impl JsLab {
    pub(super) fn of(lab: Lab) -> JsLab {
        JsLab { lab: Some(lab), files: Files::new() }
    }

    /// Ends the run, for what it leaves.
    pub(super) fn end(&mut self) -> Result<Folder, Refused> {
        alive()?;
        let lab = self.lab.take().ok_or_else(|| used_up("the Lab"))?;
        let run = lab.finish().map_err(refused)?;
        Folder::of(&run, &self.files).map_err(refused)
    }

    fn get(&mut self) -> Result<&mut Lab, Refused> {
        alive()?;
        self.lab.as_mut().ok_or_else(|| used_up("the Lab"))
    }

    fn ports<T>(&mut self, one: impl Fn(&PortState) -> T) -> Result<Vec<T>, Refused> {
        Ok(self.get()?.ports().iter().map(one).collect())
    }

    fn flows<T>(
        &mut self,
        one: impl Fn(&incast_workload::FlowSpec) -> T,
    ) -> Result<Vec<T>, Refused> {
        Ok(self.get()?.plan().traffic.flows.iter().map(one).collect())
    }
}

#[wasm_bindgen(js_class = Lab)]
impl JsLab {
    /// Of a scenario and one of its transports.
    #[wasm_bindgen(constructor)]
    pub fn new(toml: &str, transport: Option<String>, files: JsValue) -> Result<JsLab, Refused> {
        alive()?;
        let files = texts_of_files(&files)?;
        let lab = Lab::new(toml, transport.as_deref(), &files).map_err(refused)?;
        Ok(JsLab { lab: Some(lab), files })
    }

    /// What it runs, as JSON.
    pub fn info(&mut self) -> Result<String, Refused> {
        Ok(self.get()?.info().to_string())
    }

    /// Its network, as JSON.
    pub fn fabric(&mut self) -> Result<String, Refused> {
        Ok(self.get()?.fabric().to_string())
    }

    /// Source of each flow.
    #[wasm_bindgen(js_name = flowSrc)]
    pub fn flow_src(&mut self) -> Result<Vec<u32>, Refused> {
        self.flows(|flow| flow.src)
    }

    /// Destination of each flow.
    #[wasm_bindgen(js_name = flowDst)]
    pub fn flow_dst(&mut self) -> Result<Vec<u32>, Refused> {
        self.flows(|flow| flow.dst)
    }

    /// Bytes of each flow.
    #[wasm_bindgen(js_name = flowSize)]
    pub fn flow_size(&mut self) -> Result<Vec<f64>, Refused> {
        self.flows(|flow| flow.size as f64)
    }

    /// Transport of each flow.
    #[wasm_bindgen(js_name = flowTransport)]
    pub fn flow_transport(&mut self) -> Result<Vec<u32>, Refused> {
        Ok(self.get()?.flow_transports().iter().map(|at| *at as u32).collect())
    }

    /// When each flow is to start.
    #[wasm_bindgen(js_name = flowPlanned)]
    pub fn flow_planned(&mut self) -> Result<Vec<f64>, Refused> {
        Ok(self.get()?.planned_starts().map(|start| known(start.map(|at| at.0))).collect())
    }

    /// Runs until a time, or for so many events.
    pub fn step(&mut self, until_ps: f64, max_events: f64) -> Result<bool, Refused> {
        Ok(self.get()?.step(time(until_ps), max_events as u64))
    }

    /// The time reached.
    pub fn now(&mut self) -> Result<f64, Refused> {
        Ok(self.get()?.engine().now() as f64)
    }

    /// Whether the run is over.
    pub fn over(&mut self) -> Result<bool, Refused> {
        Ok(self.get()?.engine().is_over())
    }

    /// Flows completed.
    pub fn completed(&mut self) -> Result<u32, Refused> {
        Ok(self.get()?.engine().completed() as u32)
    }

    /// Packets that began transmission.
    pub fn hops(&mut self) -> Result<f64, Refused> {
        Ok(self.get()?.engine().hops() as f64)
    }

    /// Events handled.
    pub fn events(&mut self) -> Result<f64, Refused> {
        Ok(self.get()?.engine().events() as f64)
    }

    /// Bytes that wait at each port.
    #[wasm_bindgen(js_name = queueBytes)]
    pub fn queue_bytes(&mut self) -> Result<Vec<f64>, Refused> {
        self.ports(|port| port.backlog as f64)
    }

    /// Bytes that each port has sent.
    #[wasm_bindgen(js_name = sentBytes)]
    pub fn sent_bytes(&mut self) -> Result<Vec<f64>, Refused> {
        self.ports(|port| port.total.sent_bytes as f64)
    }

    /// Packets that each port has marked.
    pub fn marks(&mut self) -> Result<Vec<f64>, Refused> {
        self.ports(|port| port.marks as f64)
    }

    /// Packets that each port has dropped.
    pub fn drops(&mut self) -> Result<Vec<f64>, Refused> {
        self.ports(|port| port.total.drops as f64)
    }

    /// Packets that each port has trimmed.
    pub fn trims(&mut self) -> Result<Vec<f64>, Refused> {
        self.ports(|port| port.total.trims as f64)
    }

    /// The classes that are paused at each port.
    pub fn paused(&mut self) -> Result<Vec<u8>, Refused> {
        self.ports(|port| port.paused)
    }

    /// For how long each port has been paused.
    #[wasm_bindgen(js_name = pausedPs)]
    pub fn paused_ps(&mut self) -> Result<Vec<f64>, Refused> {
        self.ports(|port| port.total.paused as f64)
    }

    /// When each flow started.
    #[wasm_bindgen(js_name = flowStarted)]
    pub fn flow_started(&mut self) -> Result<Vec<f64>, Refused> {
        let senders = self.get()?.engine().senders();
        Ok(senders.iter().map(|flow| known(flow.opened.then_some(flow.started))).collect())
    }

    /// Payload of each flow that has arrived.
    #[wasm_bindgen(js_name = flowDelivered)]
    pub fn flow_delivered(&mut self) -> Result<Vec<f64>, Refused> {
        let engine = self.get()?.engine();
        let flows = engine.senders().len() as u32;
        Ok((0..flows).map(|flow| engine.delivered(flow) as f64).collect())
    }

    /// When each flow was complete.
    #[wasm_bindgen(js_name = flowCompleted)]
    pub fn flow_completed(&mut self) -> Result<Vec<f64>, Refused> {
        let engine = self.get()?.engine();
        let mut times = vec![f64::NAN; engine.senders().len()];
        for outcome in engine.outcomes() {
            times[outcome.flow.0 as usize] = outcome.completed as f64;
        }
        Ok(times)
    }

    /// Window, rate, bytes in flight and credits of some flows at their sources.
    pub fn observe(&mut self, flows: Vec<u32>) -> Result<Vec<f64>, Refused> {
        let engine = self.get()?.engine();
        let all = engine.senders().len() as u32;
        let of = |flow: u32| {
            let own = if flow < all { engine.observe(flow) } else { Default::default() };
            [own.window, own.rate.map(|rate| rate.0), own.in_flight, own.credits].map(known)
        };
        Ok(flows.into_iter().flat_map(of).collect())
    }
}
