//! Writes the records of a run as files: columns (Parquet or CSV), a summary,
//! a comparison of runs, figures and a report that needs no network.
//!
//! * [`Run`]: the [`RunRecord`] of a run with the scenario's metadata of flows and ports.
//! * [`columns`]: every column of `flows.parquet`, `ports.parquet` and `fairness.parquet`, with unit
//!   and meaning; one declaration writes the files and the documentation.
//! * [`summarise`]: percentiles, means, breakdown, queues, utilisation and fairness of one run.
//! * [`Balance`]: the window of a run in which arrivals and departures balance.
//! * [`Warning`]: what a user should know before trusting results; in manifest, report and console.
//! * [`Comparison`]: several runs side by side; runs of the same label are repetitions.
//! * [`report_html`], [`figures`], [`chart`]: charts, for pages and as pictures.
//! * [`SlowdownHistogram`], [`numbers()`]: what a study keeps of a run.
//! * [`StudyResults`]: many runs with varied keys: [`study_frame`], [`study_figures`], [`write_study_page`].
//! * [`folder`]: a results folder whose files are written atomically.
//!
//! In a page (WebAssembly) there are no reports, figures or tables of studies: the page draws its own.
//!
//! Flows of the warm-up are in the columns but excluded from statistics of flows.

mod balance;
#[cfg(not(target_family = "wasm"))]
pub mod chart;
mod collective;
pub mod columns;
mod comparison;
#[cfg(not(target_family = "wasm"))]
mod curves;
pub mod fairness;
mod fidelity;
#[cfg(not(target_family = "wasm"))]
pub mod figures;
pub mod flow_level;
pub mod folder;
pub mod frame;
mod grid;
#[cfg(not(target_family = "wasm"))]
mod headline;
mod histogram;
mod jobs;
mod load;
mod manifest;
pub mod measured;
mod number;
mod numbers;
#[cfg(not(target_family = "wasm"))]
mod page;
mod parts;
mod program;
#[cfg(not(target_family = "wasm"))]
mod report;
mod run;
mod server;
mod servers;
pub mod statistics;
mod stored;
mod stuck;
#[cfg(not(target_family = "wasm"))]
mod study;
mod summary;
mod texts;
mod tiers;
mod uplinks;
mod warning;
mod warnings;
mod write;

pub use balance::{Balance, BalanceSummary, FEWEST_ARRIVALS, Window as BalancedWindow};
pub use collective::{CollectiveSummary, collectives};
pub use columns::columns_markdown;
pub use comparison::Comparison;
#[cfg(not(target_family = "wasm"))]
pub use curves::write_curves;
pub use fairness::{FairnessSummary, TransportShare};
pub use fidelity::Fidelity;
pub use flow_level::{AgainstPackets, FlowLevel};
pub use folder::{FolderError, ResultsFolder, write_atomic, write_atomic_unsynced};
#[cfg(not(target_family = "wasm"))]
pub use headline::{Headline, of_runs as headline_of_runs};
pub use histogram::{Cell as SlowdownCell, QUANTILE_ERROR, SIZE_BINS, SizeBin, SlowdownHistogram};
pub use jobs::{Collective, CriticalPath, ProgramMeta, RankMeta, StepMeta};
pub use load::LoadSummary;
pub use manifest::{
    FabricFacts, InputFile, Machine, Manifest, Outline, PfcFacts, PoolFacts, RunsManifest,
    StatedWarning, TrafficFacts,
};
#[cfg(not(target_family = "wasm"))]
pub use number::display_unit;
pub use number::{significant, with_half_width};
pub use numbers::{
    Better, CLASSES, Listing, Number, Written, class_numbers, number, numbers, numbers_of,
};
pub use parts::{AgePercentiles, PartMeans};
pub use program::{ProgramSummary, iteration_ends, programs};
#[cfg(not(target_family = "wasm"))]
pub use report::{report_html, report_html_of, report_text};
pub use run::{FlowMeta, LONG_FLOW_BYTES, LinkChange, PortMeta, Request, Run};
pub use server::Server;
pub use statistics::{Confidence, Distribution, HalfWidth};
pub use stored::{StoredColumn, StoredFlows, StoredTable};
pub use stuck::Stuck;
#[cfg(not(target_family = "wasm"))]
pub use study::{
    PaperTable, RowTimes, Setting, Shown, StudyResults, StudyRow, Told, difference_within,
    key_unit, mean_within, study_columns_markdown, study_figures, study_frame, times_frame,
    write_study_page,
};
pub use summary::{
    Counters, EndlessSummary, FlowCounts, Group, RequestSummary, Summary, group, summarise,
};
pub use texts::Texts;
pub use tiers::TierSummary;
pub use warning::{WARNINGS_AFTER, WARNINGS_BEFORE, Warning, values_needed};
pub use warnings::{grouped, warnings_of};
pub use write::{files_of, write_manifest, write_run, write_tables};

pub use incast_transport::RunRecord;
