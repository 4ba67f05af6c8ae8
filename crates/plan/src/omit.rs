//! Defaults that printed plans omit. For `None`, structures have `skip_serializing_none`.

/// True for the default of its type, which a reader fills in.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// True for 1, the default of a count.
pub(crate) fn is_one(count: &u32) -> bool {
    *count == 1
}
