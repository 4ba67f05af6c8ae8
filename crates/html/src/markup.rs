//! HTML that escapes whatever it is given: names of files and jobs are anybody's words.

/// Attributes of an element: name and value.
pub type Attributes<'a> = &'a [(&'a str, &'a str)];

/// A piece of HTML that grows.
#[derive(Clone, Debug, Default)]
pub struct Markup(String);

impl Markup {
    /// An empty piece.
    pub fn new() -> Markup {
        Markup::default()
    }

    /// Adds text.
    pub fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // No control character is text; a page with a NUL is not even valid.
                c if c.is_control() && c != '\n' && c != '\t' => self.0.push('\u{fffd}'),
                c => self.0.push(c),
            }
        }
    }

    /// Adds HTML of our own making, or of another crate of ours.
    pub fn trusted(&mut self, html: &str) {
        self.0.push_str(html);
    }

    /// Adds another piece.
    pub fn add(&mut self, other: &Markup) {
        self.0.push_str(&other.0);
    }

    /// Opens an element.
    pub fn open(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            // An attribute without a value is one that is there or not.
            if !value.is_empty() {
                self.0.push_str("=\"");
                self.text(value);
                self.0.push('"');
            }
        }
        self.0.push('>');
    }

    /// Closes an element.
    pub fn close(&mut self, tag: &str) {
        self.0.push_str("</");
        self.0.push_str(tag);
        self.0.push('>');
        if BLOCKS.contains(&tag) {
            self.0.push('\n');
        }
    }

    /// Adds an element with what `content` adds inside.
    pub fn within(
        &mut self,
        tag: &str,
        attributes: Attributes<'_>,
        content: impl FnOnce(&mut Self),
    ) {
        self.open(tag, attributes);
        content(self);
        self.close(tag);
    }

    /// Adds an element that holds text.
    pub fn element(&mut self, tag: &str, attributes: Attributes<'_>, text: &str) {
        self.within(tag, attributes, |inside| inside.text(text));
    }

    /// True if nothing was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The HTML.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Elements after which the source has a line break.
const BLOCKS: &[&str] = &[
    "p", "h1", "h2", "h3", "div", "section", "header", "footer", "nav", "main", "ul", "ol", "li",
    "dl", "dd", "table", "thead", "tbody", "tr", "figure", "details", "pre", "script", "style",
    "svg", "g",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut page = Markup::new();
        page.element("p", &[("title", "\"><script>"), ("hidden", "")], "a & b</p><script>\0'");
        let expected = "<p title=\"&quot;&gt;&lt;script&gt;\" hidden>a &amp; \
                        b&lt;/p&gt;&lt;script&gt;\u{fffd}&#39;</p>\n";
        assert_eq!(page.as_str(), expected);
    }
}
