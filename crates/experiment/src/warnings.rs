//! Warnings about scenarios and manifests, and every kind of warning that is known before a run.

use incast_protocols::CATALOGUE;
use incast_transport::{Notice, WarningKind};

incast_transport::warnings! {
    /// Kinds of warnings about scenarios and manifests.
    pub static WARNINGS;
    PFC_CAN_DEADLOCK = "pfc_can_deadlock" {
        says: "fabric.pfc: paused links can wait for each other in a cycle (PFC deadlock): {ports}",
        means: "The routes of this fabric, or those after a link failure, contain a cycle of links that \
                can pause each other for ever. `fabric.pfc.allow_cycles` let the run start; it ends with \
                an error if such a deadlock happens.",
        remedy: "Other routes (up and down a tree there is no cycle), or read the results as those of a \
                 network that can stop.",
    }
    NOT_REPEATABLE = "not_repeatable" {
        says: "the {clock} clock is real time: the run cannot be repeated to the byte, its manifest \
               repeats the scenario",
        means: "The data plane runs by the clock of this machine, so times vary from run to run and \
                with the load of the machine.",
        remedy: "`dataplane.clock = \"virtual\"` or the simulator where equal bytes matter; else several \
                 runs, and their spread.",
    }
    OTHER_VERSION = "other_version" {
        says: "{manifest} was written by version {version}, and this is {own}: results may differ",
        means: "A manifest is repeated (or explained) by another version of the program than the one \
                that wrote it. CHANGELOG.md says which changes move results.",
        remedy: "Repeat both sides of a comparison with one version.",
    }
    INPUT_CHANGED = "input_changed" {
        says: "{file}: {change}",
        means: "A file that the run of this manifest read (flows, topology, sizes, paths) has other \
                content now: the SHA-256 it had and the one found are given. Without \
                `--allow-changed-files` the run is refused.",
        remedy: "Restore the file, or treat the results as those of a new scenario.",
    }
}

/// Every kind of warning that is known before a run, except those of
/// [records](incast_measure::WARNINGS_BEFORE).
pub fn kinds() -> impl Iterator<Item = &'static WarningKind> {
    let transports = CATALOGUE.iter().map(|transport| transport.warning_kinds());
    [WARNINGS, incast_fabric::import::WARNINGS, incast_workload::WARNINGS]
        .into_iter()
        .chain(transports)
        .flatten()
        .copied()
}

/// Panics if the kind of a warning is in no list, and so not in `docs/warnings.md`.
pub(crate) fn check_listed(notices: &[Notice]) {
    for notice in notices {
        let listed = kinds().any(|kind| std::ptr::eq(kind, notice.kind));
        assert!(listed, "`{}` is in no list of warnings", notice.kind.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static STRAY: WarningKind = WarningKind { name: "stray", says: "stray", means: "", remedy: "" };

    #[test]
    #[should_panic(expected = "`stray` is in no list")]
    fn a_warning_without_an_entry_is_a_bug() {
        check_listed(&[STRAY.notice(&[])]);
    }
}
