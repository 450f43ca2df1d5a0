//! Congestion controls from outside the catalogue, by name.
//!
//! A program [registers](register) a [`Control`]; as long as it keeps what that returns, the name
//! stands for the control in every scenario of the process. Results are identified by the control's
//! version, so that of two controls of one name neither is taken for the other.

use crate::Fault;
use crate::fault::{expected, one_of, wrong};
use incast_endpoint::custom::{Custom, CustomParameter, Law};
use incast_protocols::CATALOGUE;
use incast_transport::{Info, Setting, Transport, TransportId, TransportKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

/// A congestion control to register.
pub struct Control {
    /// Its name in scenarios: letters, digits, `_` and `-`, not one of the catalogue's.
    pub name: String,
    /// A hash of all that decides what it does, such as that of its source.
    pub version: String,
    /// The name of the transport of the catalogue whose ports, marking and routing it has.
    pub ports_like: String,
    /// Whether its data packets are ECN-capable, so that those ports may mark them.
    pub ecn: bool,
    /// What it controls, for lists.
    pub kind: TransportKind,
    /// Settings of the common sender
    /// ([`SenderParams`](incast_endpoint::custom::SenderParams)) in the place of the defaults.
    pub sender: Vec<(String, Setting)>,
    /// Parameters of its own.
    pub parameters: Vec<CustomParameter>,
    /// The control law.
    pub law: Arc<dyn Law>,
}

/// A transport by name.
#[derive(Clone)]
pub enum Entry {
    /// Of the catalogue.
    Catalogue(&'static dyn Transport),
    /// A registered control.
    Custom(Arc<Custom>),
}

impl Deref for Entry {
    type Target = dyn Transport;

    fn deref(&self) -> &(dyn Transport + 'static) {
        match self {
            Entry::Catalogue(entry) => *entry,
            Entry::Custom(custom) => &**custom,
        }
    }
}

/// A registration, which lasts as long as this value and its clones.
pub struct Registered {
    name: &'static str,
}

/// A registered control, and how many registrations it has.
struct Known {
    custom: Arc<Custom>,
    uses: usize,
}

/// Registered controls by name, and all names and facts that there have been: they are small, and
/// records refer to them.
#[derive(Default)]
struct Registry {
    known: BTreeMap<&'static str, Known>,
    texts: BTreeSet<&'static str>,
    infos: Vec<&'static Info>,
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

fn registry<T>(work: impl FnOnce(&mut Registry) -> T) -> T {
    let mut guard: MutexGuard<'_, Option<Registry>> =
        REGISTRY.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    work(guard.get_or_insert_default())
}

/// A text that lives as long as the process; equal texts are kept once.
pub fn lasting(text: &str) -> &'static str {
    registry(|all| all.lasting(text))
}

impl Registry {
    fn lasting(&mut self, text: &str) -> &'static str {
        if let Some(known) = self.texts.get(text) {
            return known;
        }
        let text: &'static str = Box::leak(text.into());
        self.texts.insert(text);
        text
    }

    fn lasting_info(&mut self, info: Info) -> &'static Info {
        let same = |known: &&&'static Info| {
            let facts = |info: &Info| (info.name, info.id, info.kind, info.ecn, info.marks);
            let like = |info: &Info| {
                (
                    info.switch_support,
                    info.routing,
                    info.symmetric_paths,
                    info.one_path,
                    info.made_for_pfc,
                )
            };
            facts(known) == facts(&info) && like(known) == like(&info)
        };
        if let Some(known) = self.infos.iter().find(same) {
            return known;
        }
        let info: &'static Info = Box::leak(Box::new(info));
        self.infos.push(info);
        info
    }

    /// The highest number on the wire that nobody has.
    fn free_id(&self) -> Option<TransportId> {
        let custom = self.known.values().map(|known| known.custom.info.id.0);
        let taken: BTreeSet<u8> =
            CATALOGUE.iter().map(|entry| entry.info().id.0 & 0x7F).chain(custom).collect();
        (1..0x80).rev().find(|id| !taken.contains(id)).map(TransportId)
    }
}

/// Registers a control. The same version may be registered again: the first one counts.
///
/// # Errors
/// A name that is taken, by the catalogue or by another version that is in use; a transport that
/// lends no ports; an invalid setting.
pub fn register(control: Control) -> Result<Registered, Fault> {
    let ports = check(&control)?;
    registry(|all| {
        let name = all.lasting(&control.name);
        if let Some(known) = all.known.get_mut(name) {
            if known.custom.version != control.version {
                let problem = wrong("another version of this control is in use")
                    .expected("that its runs end first, or another name");
                return Err(Fault::value("control.name", name, problem));
            }
            known.uses += 1;
            return Ok(Registered { name });
        }
        let Some(id) = all.free_id() else {
            let problem = "there are too many controls at once";
            return Err(Fault::value("control.name", name, problem));
        };
        let Control { version, ecn, kind, sender, parameters, law, .. } = control;
        let info = Custom::info(name, id, name, kind, ecn, ports).map_err(Fault::new)?;
        let info = all.lasting_info(info);
        let custom = Arc::new(Custom { info, version, ports, sender, parameters, law });
        all.known.insert(name, Known { custom, uses: 1 });
        Ok(Registered { name })
    })
}

/// Checks what does not depend on other controls; the transport that lends the ports.
fn check(control: &Control) -> Result<&'static dyn Transport, Fault> {
    let Control { name, ports_like, sender, .. } = control;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 40 || !name.chars().all(fits) {
        let problem = expected("1 to 40 letters, digits, `_` and `-`");
        return Err(Fault::value("control.name", name, problem));
    }
    if incast_protocols::find(name).is_some() {
        let problem = wrong("this is a transport of the catalogue").expected("another name");
        return Err(Fault::value("control.name", name, problem));
    }
    if control.version.is_empty() {
        return Err(Fault::at("control.version", expected("a hash of what the control does")));
    }
    let given = incast_endpoint::custom::SenderParams::read(sender);
    given.map_err(|fault| fault.below("control"))?;
    let found = incast_protocols::find(ports_like);
    found.filter(|entry| entry.lends_ports().is_some()).ok_or_else(|| {
        let lends = CATALOGUE.iter().filter(|entry| entry.lends_ports().is_some());
        let names: Vec<&str> = lends.map(|entry| entry.info().name).collect();
        let known = one_of(ports_like, names);
        let problem = match found.map(|entry| entry.info().switch_support) {
            Some(needs) => known.in_part(&format!(
                "its ports need more of packets than a control writes ({needs})"
            )),
            None => known,
        };
        Fault::value("control.ports_like", ports_like, problem)
    })
}

impl Registered {
    /// The name in scenarios.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl Clone for Registered {
    fn clone(&self) -> Registered {
        registry(|all| all.known.get_mut(self.name).expect("it is registered").uses += 1);
        Registered { name: self.name }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let last = registry(|all| {
            let known = all.known.get_mut(self.name)?;
            known.uses -= 1;
            if known.uses == 0 { all.known.remove(self.name) } else { None }
        });
        // What it holds is freed without the lock: it may be a program's own.
        drop(last);
    }
}

/// The transport of this name.
pub fn find(name: &str) -> Option<Entry> {
    let entry = incast_protocols::find(name).map(Entry::Catalogue);
    entry.or_else(|| {
        registry(|all| all.known.get(name).map(|known| Entry::Custom(known.custom.clone())))
    })
}

/// The names of all registered controls.
pub fn names() -> Vec<&'static str> {
    registry(|all| all.known.keys().copied().collect())
}

/// The name of the registered control with this number.
pub(crate) fn name_of(id: TransportId) -> Option<&'static str> {
    registry(|all| all.known.values().map(|known| known.custom.info).find(|info| info.id == id))
        .map(|info| info.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_endpoint::custom::fixed_law;

    fn control(name: &str, version: &str) -> Control {
        Control {
            name: name.into(),
            version: version.into(),
            ports_like: "dctcp".into(),
            ecn: true,
            kind: TransportKind::Window,
            sender: vec![],
            parameters: vec![],
            law: fixed_law(|_| Err("not made to run".into())),
        }
    }

    #[test]
    fn a_name_stands_for_one_version_at_a_time() {
        let first = register(control("one_at_a_time", "a")).unwrap();
        let again = register(control("one_at_a_time", "a")).unwrap();
        let fault = register(control("one_at_a_time", "b")).err().unwrap().to_string();
        assert!(fault.contains("another version"), "{fault}");
        drop(first);
        assert!(find("one_at_a_time").is_some());
        drop(again.clone());
        drop(again);
        assert!(find("one_at_a_time").is_none());
        let other = register(control("one_at_a_time", "b")).unwrap();
        let entry = find(other.name()).unwrap();
        assert_eq!(entry.info().routing, incast_protocols::find("dctcp").unwrap().info().routing);
        assert!(entry.info().id.0 < 0x80);
        assert!(CATALOGUE.iter().all(|known| known.info().id != entry.info().id));
    }

    #[test]
    fn what_cannot_be_registered_is_said() {
        let fault = |change: fn(&mut Control)| {
            let mut one = control("never_registered", "a");
            change(&mut one);
            register(one).err().expect("it is refused").to_string()
        };
        let text = fault(|one| one.name = "ren".into());
        assert!(
            text.contains("control.name = `ren`: this is a transport of the catalogue"),
            "{text}"
        );
        let text = fault(|one| one.name = "a b".into());
        assert!(text.contains("expected 1 to 40 letters"), "{text}");
        let text = fault(|one| one.ports_like = "dctpc".into());
        assert!(text.contains("did you mean `dctcp`?"), "{text}");
        let text = fault(|one| one.ports_like = "ndp".into());
        assert!(text.contains("Expected one of cubic, dcqcn, dctcp, timely, trd, vcp"), "{text}");
        assert!(text.contains("(payload trimming, return to sender"), "{text}");
        let text = fault(|one| one.sender = vec![("rto_min".into(), "0s".into())]);
        assert!(text.contains("control.rto_min = `0s`: expected more than 0"), "{text}");
        assert!(fault(|one| one.version = String::new()).contains("control.version"));
        assert!(find("never_registered").is_none());
    }
}
