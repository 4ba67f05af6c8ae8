//! The two trees of a job: its target, and the tree to which items are copied or renamed.

/// A value for each tree of a job.
pub struct Trees<T> {
    /// Value of the job's tree.
    pub own: Option<T>,
    /// Value of the destination tree.
    pub other: Option<T>,
}

impl<T> Default for Trees<T> {
    fn default() -> Self {
        Trees { own: None, other: None }
    }
}

impl<T> Trees<T> {
    /// Value of the destination tree, or of the job's tree.
    pub fn get_mut(&mut self, other: bool) -> Option<&mut T> {
        if other { self.other.as_mut() } else { self.own.as_mut() }
    }

    /// True if any tree has a value.
    pub fn has_any(&self) -> bool {
        self.own.is_some() || self.other.is_some()
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.own.iter().chain(&self.other)
    }

    /// All values, mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.own.iter_mut().chain(&mut self.other)
    }
}
