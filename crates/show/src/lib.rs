//! Report in, text and JSON out: rendering without arithmetic.
