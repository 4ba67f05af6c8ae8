//! Tests of the whole: causes, order, headlines, honest runs, garbage.

mod causes;
mod evidence;
mod follow_ups;
mod garbage;
mod honest;
mod objects;
mod texts;
