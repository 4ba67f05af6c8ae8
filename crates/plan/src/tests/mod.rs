//! Test helpers: arbitrary plans, and examples of other tools' command lines as plans.

pub mod arbitrary;
mod tool_examples;
