//! Whole-program tests: the `candor` binary against real files, devices and mistakes.
//!
//! They assert findings and relations, never absolute speeds. What a machine cannot offer (root,
//! loop devices, control groups) makes a test say `skipped: NAME: reason` and end. Loads that
//! would be foreign traffic to each other take turns: see [`support::alone`].

mod acceptance;
mod believe;
mod block_trace;
mod cache;
mod charts;
mod check;
mod commands;
mod compare;
mod completions;
mod dd;
mod elbencho;
mod elbencho_files;
mod elbencho_fleet;
mod elbencho_log;
mod elbencho_results;
mod faults;
mod figures;
mod fio;
mod fio_consumers;
mod fio_files;
mod fio_fleet;
mod fio_newer;
mod fio_peer;
mod fio_states;
mod fio_traces;
mod fleet;
mod fleet_network;
mod fleet_ranks;
mod fleet_strangers;
mod history;
mod honest;
mod host_safety;
mod hosts;
mod html;
mod ior;
mod iostat;
mod journal;
mod launchers;
mod launchers_network;
mod limits;
mod lists;
mod live;
mod md_workbench;
mod mdtest;
mod metrics;
mod plans;
mod ranks;
mod ranks_offsets;
mod safety;
mod scale;
mod scenarios;
mod segments;
mod slurm;
mod support;
mod trees;
mod user;
mod vdbench;
mod vdbench_files;
mod vdbench_fleet;
mod vdbench_validation;
mod verify;
mod watch;
