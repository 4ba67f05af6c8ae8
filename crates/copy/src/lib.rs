//! Copying bytes from a source to a sink, block by block, as dd does.
//!
//! The copied bytes are user data, so this crate is separate from the families of work: the loop
//! reads no clock per block, opens no file, and ends only by its [`CopyPlan`]. [`copy()`] reads
//! input blocks, pads and converts them, collects output blocks and counts both. An [`Observer`]
//! receives each event and formats the messages. [`process`] holds the state that the process
//! inherits (closed streams, ignored signals) and the signals that it handles.
//!
//! ```text
//! let plan = CopyPlan { input_block: 1 << 20, output_block: 1 << 20, … };
//! let ended = copy(&plan, input.as_fd(), output.as_fd(), None, &mut observer)?;
//! println!("{} full blocks", ended.counts.read_full);
//! ```

mod cache;
mod copier;
mod plan;
pub mod process;
mod sink;
mod source;

pub use copier::{Ended, OutOfMemory, copy};
pub use plan::{Amount, Convert, CopyPlan, Counts, Flush, Notice, Observer, Put, WriteFailed};
