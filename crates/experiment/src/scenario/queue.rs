//! How a queue of data is served.

use super::field::{Field, wrong};
use super::node::{Node, Value};
use crate::Fault;
use incast_transport::Schedule;
use std::fmt;

/// A queue of data at every port: `"strict"`, or its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue(pub Schedule);

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Schedule::Strict => f.write_str("strict"),
            Schedule::Weighted(weight) => weight.fmt(f),
        }
    }
}

impl Field for Queue {
    const KIND: &'static str = "text";
    type Item = Queue;
    fn expects() -> String {
        "`strict` or a weight".into()
    }
    fn read(node: &Node, path: &str) -> Result<Queue, Fault> {
        match &node.value {
            Value::Text(text) if text == "strict" => Ok(Queue(Schedule::Strict)),
            Value::Whole(_) => {
                u32::read(node, path).map(|weight| Queue(Schedule::Weighted(weight)))
            }
            _ => Err(wrong::<Queue>(node, path)),
        }
    }
    fn write(&self) -> Option<Node> {
        match self.0 {
            Schedule::Strict => Some(Node::text("strict")),
            Schedule::Weighted(weight) => weight.write(),
        }
    }
    fn items(&self) -> Vec<&Queue> {
        vec![self]
    }
    fn of_flag(text: &str) -> Node {
        text.parse::<u32>()
            .map_or_else(|_| Node::text(text), |weight| Value::Whole(weight as i128).into())
    }
}
