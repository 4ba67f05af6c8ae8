//! XML of requests, and a reader of the XML of answers.

use quick_xml::Reader;
use quick_xml::events::Event;

const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";
/// Deepest nesting of a document of S3, with a reserve.
const MAX_DEPTH: usize = 32;

/// Appends the first tag of a document.
pub fn root(to: &mut Vec<u8>, name: &str) {
    for text in ["<", name, " xmlns=\"", NAMESPACE, "\">"] {
        to.extend_from_slice(text.as_bytes());
    }
}

/// Appends the start of an element.
pub fn open(to: &mut Vec<u8>, name: &str) {
    for text in ["<", name, ">"] {
        to.extend_from_slice(text.as_bytes());
    }
}

/// Appends the end of an element.
pub fn close(to: &mut Vec<u8>, name: &str) {
    for text in ["</", name, ">"] {
        to.extend_from_slice(text.as_bytes());
    }
}

/// Appends an element with text. Control characters become references, since servers decode these
/// and would normalise or refuse the characters themselves.
pub fn leaf(to: &mut Vec<u8>, name: &str, text: &str) {
    open(to, name);
    for c in text.chars() {
        let reference = match c {
            '<' => "&lt;",
            '>' => "&gt;",
            '&' => "&amp;",
            '"' => "&quot;",
            '\'' => "&apos;",
            c if c.is_ascii_control() => {
                to.extend_from_slice(format!("&#{};", u32::from(c)).as_bytes());
                continue;
            }
            c => {
                to.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
        };
        to.extend_from_slice(reference.as_bytes());
    }
    close(to, name);
}

/// An element that ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// Name without a prefix.
    pub name: &'a str,
    /// Name of the element around it; empty for the root.
    pub parent: &'a str,
    /// Text after the last tag before its end: the whole text of an element without elements.
    pub text: &'a str,
}

/// A document that is read once, from its start to its end.
pub struct Document<'a> {
    reader: Reader<&'a [u8]>,
    /// Names of the open elements, joined.
    names: String,
    /// Starts of names in `names`.
    starts: Vec<usize>,
    text: String,
    /// The innermost element ended; its name remains for the caller.
    has_ended: bool,
}

impl<'a> Document<'a> {
    /// Reads up to the start of the root.
    ///
    /// # Errors
    /// A sentence: bytes that are no UTF-8, no element, or no XML.
    pub fn new(bytes: &'a [u8]) -> Result<Document<'a>, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        let (names, starts, text) = (String::new(), Vec::new(), String::new());
        let mut document = Document { reader, names, starts, text, has_ended: false };
        while document.starts.is_empty() {
            if !document.step()? {
                return Err("the body has no element".to_owned());
            }
        }
        Ok(document)
    }

    /// Name of the root, before its end.
    pub fn root(&self) -> &str {
        let end = self.starts.get(1).copied().unwrap_or(self.names.len());
        &self.names[..end]
    }

    /// The next element that ends; none after the root.
    ///
    /// # Errors
    /// A sentence: the body is no XML, or ends within an element.
    pub fn next(&mut self) -> Result<Option<Element<'_>>, String> {
        if std::mem::take(&mut self.has_ended) {
            let start = self.starts.pop().expect("an element was open");
            self.names.truncate(start);
            self.text.clear();
        }
        if self.starts.is_empty() {
            return Ok(None);
        }
        while !self.has_ended {
            if !self.step()? {
                let name = self.root();
                return Err(format!("the body ends before the end of <{name}>"));
            }
        }
        let (last, around) = self.starts.split_last().expect("the ended element");
        let parent = around.last().map_or("", |start| &self.names[*start..*last]);
        Ok(Some(Element { name: &self.names[*last..], parent, text: &self.text }))
    }

    /// Reads one event; false at the end.
    fn step(&mut self) -> Result<bool, String> {
        match self.reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(tag) => {
                if self.starts.len() == MAX_DEPTH {
                    return Err(format!("more than {MAX_DEPTH} nested elements"));
                }
                self.starts.push(self.names.len());
                self.names.push_str(tag.local_name().as_ref());
                self.text.clear();
            }
            Event::End(_) => self.has_ended = true,
            Event::Text(text) => self.text.push_str(&text),
            Event::CData(text) => self.text.push_str(&text),
            Event::GeneralRef(reference) => {
                let character = match reference.resolve_char_ref() {
                    Ok(Some(character)) => Some(character),
                    Ok(None) => entity(&reference),
                    Err(_) => None,
                };
                let Some(character) = character else {
                    return Err(format!("unknown reference &{};", &*reference));
                };
                self.text.push(character);
            }
            Event::Eof => return Ok(false),
            Event::Empty(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => {}
        }
        Ok(true)
    }
}

fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn elements(bytes: &[u8]) -> Result<Vec<String>, String> {
        let mut document = Document::new(bytes)?;
        let mut found = Vec::new();
        while let Some(Element { name, parent, text }) = document.next()? {
            found.push(format!("{parent}/{name}={text}"));
        }
        Ok(found)
    }

    #[test]
    fn elements_have_parents_and_decoded_text() {
        let text = b" <?xml version=\"1.0\"?><s:a xmlns:s='x'>\n\
                     <b>&#34;x&quot;<![CDATA[<]]></b><c/></s:a>";
        let found = elements(text).unwrap();
        assert_eq!(found, ["a/b=\"x\"<", "a/c=", "/a="]);
    }

    #[test]
    fn broken_documents_have_reasons() {
        for text in ["", "Slow down", "<a>", "<a></b>", "<a>&what;</a>", "<a>&#0;</a>", "<a"] {
            assert!(elements(text.as_bytes()).is_err(), "{text}");
        }
        assert!(elements(b"\xff").is_err());
        assert!(elements("<a>".repeat(100).as_bytes()).unwrap_err().contains("nested"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = elements(&bytes);
        }

        #[test]
        fn no_text_of_tags_panics(text in "[<>/a&#;!?x0-9 \"=\\[\\]-]{0,80}") {
            let _ = elements(text.as_bytes());
        }

        #[test]
        fn text_is_read_back(text in "[^\0\u{fffe}\u{ffff}]*") {
            let mut bytes = Vec::new();
            leaf(&mut bytes, "a", &text);
            prop_assert_eq!(elements(&bytes), Ok(vec![format!("/a={text}")]));
        }
    }
}
