//! How a text is dressed: its width, and whether colours may be used.

/// How a text is dressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Use colours. They never carry meaning alone: the words say the same.
    pub color: bool,
    /// Columns to fill; 80 at least.
    pub width: usize,
    /// The text is for a screen: summaries are cut where they do not fit it.
    pub is_screen: bool,
}

/// Below this, tables stop being tables.
const WIDTH_MIN: usize = 80;
/// Above this, lines become hard to read.
const WIDTH_MAX: usize = 140;

impl Default for Style {
    fn default() -> Self {
        Style { color: false, width: 100, is_screen: true }
    }
}

/// Role of a piece of text, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A heading or a name to find again.
    Strong,
    /// Something to skip on first reading.
    Dim,
    /// In order.
    Good,
    /// Worth a look.
    Caution,
    /// Wrong.
    Bad,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Tone::Strong => "1",
            Tone::Dim => "2",
            Tone::Good => "32",
            Tone::Caution => "33",
            Tone::Bad => "31",
        }
    }
}

impl Style {
    /// The width that is really used.
    pub(crate) fn columns(&self) -> usize {
        self.width.clamp(WIDTH_MIN, WIDTH_MAX)
    }

    /// The given limit on a screen, and no limit elsewhere.
    pub(crate) fn lines_max(&self, on_screen: usize) -> usize {
        const UNLIMITED: usize = 1_000_000;
        if self.is_screen { on_screen } else { UNLIMITED }
    }

    /// The text in a tone's colour, or as it is.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", tone.code())
        } else {
            text.to_owned()
        }
    }
}
