//! Pages: names, titles and links.

/// Pages that all runs have, and how `summary.html` calls them.
pub(super) const COMMON: [(&str, &str); 10] = [
    ("logfile", "Link to logfile:"),
    ("totals", "Link to run totals:"),
    ("parmfile", "Link to parameter files:"),
    ("parmscan", "Link to parameter scan:"),
    ("histogram", "Link to histogram:"),
    ("flatfile", "Link to flatfile:"),
    ("errorlog", "Link to error log:"),
    ("status", "Link to status:"),
    ("skew", "Link to skew:"),
    ("summary", ""),
];

/// The first line of a page.
pub(super) fn title(directory: &str, page: &str) -> String {
    format!("<title>Vdbench {directory}/{page}.html</title><pre>\n")
}

/// A line that links to another page.
pub(super) fn link(what: &str, page: &str) -> String {
    format!("{what:<32} <A HREF=\"{page}.html\">{page}</A>\n")
}

/// Escapes text for HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A name as the name of a page.
pub(super) fn page_of(name: &str) -> String {
    name.replace(['/', '\0', '\n'], "_")
}
