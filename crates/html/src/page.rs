//! The frame of every page: head, navigation, sections, footer.

use sha2::{Digest, Sha256};

use crate::markup::Markup;
use crate::parts;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// Everything of a page but its sections.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Title of the window.
    pub title: String,
    /// The answer, above all sections.
    pub head: Markup,
    /// A sentence at the end: who made it, from what.
    pub colophon: String,
}

/// A part of a page with a heading of its own.
#[derive(Clone, Debug)]
pub struct Section {
    /// Name in links to it; letters and dashes.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// Name in the navigation.
    pub short: &'static str,
    /// The rest.
    pub body: Markup,
}

/// The page as one text.
pub fn page(frame: &Frame, sections: &[Section]) -> String {
    let mut page = Markup::new();
    page.trusted("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.trusted("<meta http-equiv=\"Content-Security-Policy\" content=\"");
    page.text(&policy());
    page.trusted("\">\n");
    page.trusted("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.trusted("<meta name=\"color-scheme\" content=\"light dark\">\n");
    page.element("title", &[], &frame.title);
    page.trusted("\n<style>\n");
    page.trusted(candor_chart::STYLE);
    page.trusted(STYLE);
    page.trusted(
        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the results</a>\n",
    );
    page.within("header", &[("class", "top")], |top| top.add(&frame.head));
    page.within("nav", &[("aria-label", "Sections")], |nav| {
        for section in sections {
            nav.element("a", &[("href", &format!("#{}", section.id))], section.short);
        }
        nav.within("label", &[], |label| {
            label.trusted("<input type=\"checkbox\" id=\"print-all\"> ");
            label.text("Print all sections");
        });
    });
    page.within("main", &[("id", "main")], |main| {
        for section in sections {
            let heading = format!("{}-heading", section.id);
            let attributes = [("id", section.id), ("aria-labelledby", heading.as_str())];
            main.within("section", &attributes, |body| {
                body.element("h2", &[("id", &heading)], &section.title);
                body.add(&section.body);
            });
        }
    });
    page.within("footer", &[], |footer| footer.element("p", &[], &frame.colophon));
    page.trusted("<div id=\"spoken\" class=\"unseen\" aria-live=\"polite\"></div>\n<script>");
    page.trusted(SCRIPT);
    page.trusted("</script>\n</body>\n</html>\n");
    page.as_str().to_owned()
}

/// Nothing may be loaded, and only the script of this file may run.
fn policy() -> String {
    let hash = parts::base64(&Sha256::digest(SCRIPT.as_bytes()));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; img-src data:; \
         base-uri 'none'; form-action 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_stand_in_the_navigation_and_nothing_is_loaded() {
        let mut body = Markup::new();
        body.element("p", &[], "words");
        let section = Section { id: "one", title: "One <b>".into(), short: "One", body };
        let frame = Frame { title: "</title><script>x".into(), ..Frame::default() };
        let text = page(&frame, &[section]);
        assert!(text.contains("<title>&lt;/title&gt;&lt;script&gt;x</title>"));
        assert!(text.contains("<a href=\"#one\">One</a>"));
        assert!(text.contains("<h2 id=\"one-heading\">One &lt;b&gt;</h2>\n<p>words</p>"));
        assert_eq!(text.matches("<script").count(), 1);
        assert!(text.contains("default-src &#39;none&#39;"));
        // The name of a namespace and a place within the page are no addresses.
        let text = text.replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
        for loading in [" src=", "@import", "url(", "fetch(", "XMLHttpRequest", "http:", "https:"] {
            assert!(!text.contains(loading), "{loading}");
        }
    }

    #[test]
    fn the_script_stays_readable() {
        assert!(SCRIPT.lines().count() < 700, "{}", SCRIPT.lines().count());
        assert!(SCRIPT.lines().all(|line| line.len() <= 100));
        assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
    }
}
