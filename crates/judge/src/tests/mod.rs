//! Tests of the whole: folding, order, headlines, honest runs, garbage.

mod folding;
mod garbage;
mod honest;
mod slices;
mod texts;
