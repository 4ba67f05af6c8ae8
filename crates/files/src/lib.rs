//! Files of a command: those it uses, and the one writer of its results.

mod identity;
mod in_use;
mod output;

pub use identity::is_same;
pub use in_use::{
    REMEDY, Refusal, Use, claim, claim_onto, has_refused, passes, refusal_of, uses, uses_tree,
};
pub use output::{Replacement, append, create, prepare, replace, stream};
