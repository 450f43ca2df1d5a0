//! Scenarios, runs and results folders.

mod balance;
mod captures;
mod collectives;
mod custom;
mod cuts;
mod endless;
mod equations;
mod files;
mod inputs;
mod links;
mod manifest;
mod mixes;
mod queues;
mod records;
mod scenario;
mod series;
mod servers;
mod sizes;
mod steps;
mod support;
mod switching;
mod traces;
mod tracing;
mod validation;
mod versions;
mod worlds;
