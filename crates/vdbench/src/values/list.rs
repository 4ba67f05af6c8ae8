//! Items of a value: one word, or a list in parentheses; quotes protect spaces, commas, dashes.

use candor_front::Refused;

/// Maximum number of items in a list, as in vdbench.
pub const ITEMS_MAX: usize = 10_240;

/// An item of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The text without its quotes.
    pub text: String,
    /// First byte in the value.
    pub start: usize,
    /// A dash between the bounds of a range.
    pub is_dash: bool,
}

impl Item {
    /// A refusal of this item of `value`.
    pub fn refused(&self, value: &str, message: String, remedy: &str) -> Refused {
        let end = (self.start + self.text.len()).min(value.len());
        let part = self.start.min(end)..end;
        Refused { message, remedy: remedy.to_owned(), part }
    }
}

/// Splits a value into items. With `dashes`, a dash in a list is an item.
///
/// # Errors
/// The value is empty, or the list too long.
pub fn items(value: &str, dashes: bool) -> Result<Vec<Item>, Refused> {
    let is_list = value.starts_with('(');
    let mut cutter = Cutter { items: Vec::new(), open: None };
    let mut quoted = false;
    for (at, letter) in value.char_indices() {
        match letter {
            '"' => {
                quoted = !quoted;
                cutter.begin(at + 1);
            }
            '(' | ')' | ',' if is_list && !quoted => cutter.end(),
            '-' if is_list && dashes && !quoted => {
                cutter.end();
                cutter.items.push(Item { text: "-".into(), start: at, is_dash: true });
            }
            _ => cutter.add(at, letter),
        }
    }
    cutter.end();
    if cutter.items.is_empty() {
        return Err(Refused::whole(value, "there is no value", "give one"));
    }
    if cutter.items.len() > ITEMS_MAX {
        let message = format!("the list has more than {ITEMS_MAX} values");
        return Err(Refused::whole(value, message, "use fewer"));
    }
    Ok(cutter.items)
}

/// Items so far, and the one that is read.
struct Cutter {
    items: Vec<Item>,
    open: Option<Item>,
}

impl Cutter {
    fn begin(&mut self, start: usize) {
        self.open.get_or_insert(Item { text: String::new(), start, is_dash: false });
    }

    fn add(&mut self, at: usize, letter: char) {
        self.begin(at);
        self.open.iter_mut().for_each(|item| item.text.push(letter));
    }

    fn end(&mut self) {
        self.items.extend(self.open.take());
    }
}
