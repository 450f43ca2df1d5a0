//! A congestion control from outside the catalogue in a study.

use crate::support::{SCENARIO, run};
use incast_endpoint::custom::{CustomControl, Limits, fixed_law};
use incast_endpoint::sender::{Ack, Loss, Progress};
use incast_experiment::custom::{Control, Registered, register};
use incast_study::{Study, run_bytes};
use incast_transport::TransportKind;
use std::sync::Arc;

/// A window that never changes.
struct Still(Limits);

impl CustomControl for Still {
    fn on_ack(&mut self, _: &Ack<'_>, _: &Progress) -> Result<Limits, String> {
        Ok(self.0)
    }

    fn on_loss(&mut self, _: Loss, _: &Progress) -> Result<Limits, String> {
        Ok(self.0)
    }

    fn on_timer(&mut self, _: &Progress) -> Result<Limits, String> {
        Ok(self.0)
    }
}

fn registered(version: &str) -> Registered {
    let law = fixed_law(|_| {
        let limits = Limits::window(30_000);
        Ok((Box::new(Still(limits)), limits))
    });
    let control = Control {
        name: "still".into(),
        version: version.into(),
        ports_like: "dctcp".into(),
        ecn: false,
        kind: TransportKind::Window,
        sender: vec![],
        parameters: vec![],
        law,
    };
    register(control).unwrap()
}

/// It stands beside the catalogue; its version names its rows; a worker without it refuses its points.
#[test]
fn a_custom_control_has_rows_of_its_own_version() {
    let dir = tempfile::tempdir().unwrap();
    let text = SCENARIO.replace("\"ren\"", "\"still\"") + "[study]\nseeds = 2\n";
    let read = || Arc::new(Study::parse(&text, "x.toml", &[]).unwrap());
    let first = registered("a");
    let own = read();
    let ran = run(&own, dir.path(), 2).progress;
    assert_eq!((ran.done, ran.failed), (4, 0));
    assert_eq!(run(&own, dir.path(), 2).progress.kept, 4);
    let bytes = own.points()[0].to_bytes();
    assert_eq!(own.points()[0].label, "still");
    drop(first);
    let answer = String::from_utf8(run_bytes(&bytes, 1, &Default::default())).unwrap();
    assert!(answer.contains("refused") && answer.contains("still"), "{answer}");
    let said = Study::parse(&text, "x.toml", &[]).unwrap_err().to_string();
    assert!(said.contains("still") && said.contains("expected one of"), "{said}");
    // Another version of it runs anew; DCTCP's rows stay.
    let _second = registered("b");
    let again = run(&read(), dir.path(), 2).progress;
    assert_eq!((again.done, again.kept, again.failed), (4, 2, 0));
}
