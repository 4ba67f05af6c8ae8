//! Series of runs that choose their next step from the last result.
