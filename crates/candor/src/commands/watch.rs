//! `candor watch`: what goes on on the devices, as sysstat's iostat tells it (`--iostat`).

pub mod iostat;
mod pace;
