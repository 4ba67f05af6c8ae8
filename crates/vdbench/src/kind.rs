//! The values of parameters in the tables of definitions, and keywords that may be shortened.

use std::marker::PhantomData;

use candor_front::{Applied, Refused, Row, Set, Table, Takes, ValueKind, bare, row};

/// Minimum length of an abbreviated keyword.
pub const LETTERS_MIN: usize = 2;

/// The value of a parameter that is gathered in an `O`; its setter reads the text itself.
pub struct Parameter<O> {
    form: &'static str,
    /// The keyword may not be shortened.
    is_whole: bool,
    of: PhantomData<fn(&mut O)>,
}

impl<O> Parameter<O> {
    /// A value of this form; the keyword may be abbreviated.
    pub const fn of(form: &'static str) -> Self {
        Parameter { form, is_whole: false, of: PhantomData }
    }

    /// A value of this form; the keyword must be complete.
    pub const fn whole(form: &'static str) -> Self {
        Parameter { form, is_whole: true, of: PhantomData }
    }
}

impl<O> Clone for Parameter<O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Parameter<O> {}

impl<O: 'static> ValueKind for Parameter<O> {
    type Options = O;
    type Setter = Set<O>;
    const NOTHING: Set<O> = |_, _| Ok(());

    fn form(&self) -> String {
        self.form.to_owned()
    }

    fn takes(&self) -> Takes {
        Takes::One(self.form)
    }

    fn apply(row: &Row<Self>, options: &mut O, text: Option<&str>) -> Result<Applied, Refused> {
        (row.set)(options, text.unwrap_or_default())?;
        Ok(Applied { remark: None, is_default: text.is_some_and(|text| text == row.default) })
    }
}

/// A parameter whose keyword may be abbreviated.
pub(super) const fn parameter<O: 'static>(
    name: &'static str,
    form: &'static str,
    set: Set<O>,
    help: &'static str,
) -> Row<Parameter<O>> {
    row(name, Parameter::of(form), set, help)
}

/// A parameter whose keyword must be complete.
pub(super) const fn whole<O: 'static>(
    name: &'static str,
    form: &'static str,
    set: Set<O>,
    help: &'static str,
) -> Row<Parameter<O>> {
    row(name, Parameter::whole(form), set, help)
}

/// A parameter that is known and not read: it is refused, or changes nothing.
pub(super) const fn known<O: 'static>(
    name: &'static str,
    form: &'static str,
    help: &'static str,
) -> Row<Parameter<O>> {
    bare(name, Parameter::of(form), help)
}

/// The row of an abbreviated keyword: the first match in vdbench's order of comparison.
pub fn meant<O: 'static>(
    table: &Table<Parameter<O>>,
    keyword: &str,
) -> Option<&'static Row<Parameter<O>>> {
    table.rows().find(|row| {
        let shortened = !row.kind.is_whole && keyword.len() >= LETTERS_MIN;
        row.names().any(|name| name == keyword || (shortened && name.starts_with(keyword)))
    })
}
