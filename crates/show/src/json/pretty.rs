//! JSON that people can page through: what fits on a line stands on one line.
//!
//! The ordinary pretty-printer gives every number of every histogram a line of its own, which
//! makes a report of a minute some ten thousand lines long.

/// Columns that a container may take on one line.
const COLUMNS: usize = 100;

/// Compact JSON, laid out in lines of at most [`COLUMNS`] where that is possible.
pub(super) fn print(compact: &str) -> String {
    let mut printer = Printer { text: compact.as_bytes(), at: 0, out: Vec::new(), depth: 0 };
    printer.value();
    printer.out.push(b'\n');
    // Only whole characters were copied, in order.
    String::from_utf8(printer.out).unwrap_or_else(|_| compact.to_owned())
}

struct Printer<'a> {
    text: &'a [u8],
    at: usize,
    out: Vec<u8>,
    depth: usize,
}

impl Printer<'_> {
    fn value(&mut self) {
        let end = self.end_of_value(self.at);
        let opens = matches!(self.text.get(self.at), Some(b'{' | b'['));
        if opens && self.column() + self.columns_to(end) > COLUMNS {
            self.container();
        } else {
            self.inline(end);
        }
    }

    /// One member on each line, or, in a list of short ones, as many as fit.
    fn container(&mut self) {
        let (open, close) = match self.text[self.at] {
            b'{' => (b'{', b'}'),
            _ => (b'[', b']'),
        };
        self.out.push(open);
        self.at += 1;
        self.depth += 1;
        self.line();
        while self.at < self.text.len() && self.text[self.at] != close {
            if open == b'{' {
                let key_end = self.end_of_value(self.at);
                self.inline(key_end);
                self.out.extend(b": ");
                self.at += 1;
            }
            self.value();
            if self.text.get(self.at) == Some(&b',') {
                self.at += 1;
                self.out.push(b',');
                self.next_member(open == b'[');
            }
        }
        self.at += 1;
        self.depth -= 1;
        self.line();
        self.out.push(close);
    }

    /// Goes on behind a comma: on the same line, if this is a list of short members with room.
    fn next_member(&mut self, in_list: bool) {
        let length = self.columns_to(self.end_of_value(self.at));
        let plain = !matches!(self.text.get(self.at), Some(b'{' | b'"'));
        if in_list && plain && self.column() + 1 + length < COLUMNS {
            self.out.push(b' ');
        } else {
            self.line();
        }
    }

    /// Where the output stands in its line.
    fn column(&self) -> usize {
        self.out.iter().rev().take_while(|byte| **byte != b'\n').count()
    }

    /// Columns that the text up to `end` takes at most, room after commas and colons included.
    fn columns_to(&self, end: usize) -> usize {
        let separators = self.text[self.at..end].iter().filter(|byte| b",:".contains(byte));
        end - self.at + separators.count()
    }

    fn line(&mut self) {
        self.out.push(b'\n');
        self.out.extend(std::iter::repeat_n(b' ', 2 * self.depth));
    }

    /// Copies up to `end`, with room after commas and colons.
    fn inline(&mut self, end: usize) {
        let mut in_string = false;
        while self.at < end {
            let byte = self.text[self.at];
            self.out.push(byte);
            self.at += 1;
            match byte {
                b'\\' if in_string && self.at < end => {
                    self.out.push(self.text[self.at]);
                    self.at += 1;
                }
                b'"' => in_string = !in_string,
                b',' | b':' if !in_string => self.out.push(b' '),
                _ => {}
            }
        }
    }

    /// The offset behind the value that begins at `start`, looking no further than needed.
    fn end_of_value(&self, start: usize) -> usize {
        let (mut depth, mut in_string, mut at) = (0usize, false, start);
        while let Some(byte) = self.text.get(at) {
            match byte {
                b'\\' if in_string => at += 1,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' | b',' | b':' if !in_string && depth == 0 => return at,
                b'}' | b']' if !in_string => depth -= 1,
                _ => {}
            }
            at += 1;
            // What is longer than a line is laid out member by member, wherever it ends.
            if at > start + 2 * COLUMNS && depth > 0 {
                return at;
            }
        }
        at.min(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(compact: &str) {
        let printed = print(compact);
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(&printed), parse(compact), "{printed}");
    }

    #[test]
    fn what_fits_stands_on_one_line() {
        assert_eq!(
            print(r#"{"a":[1,2],"b":"x, \"y\": z"}"#),
            "{\"a\": [1, 2], \"b\": \"x, \\\"y\\\": z\"}\n"
        );
        assert_eq!(print("[]"), "[]\n");
        assert_eq!(print("3"), "3\n");
    }

    #[test]
    fn long_ones_are_filled() {
        let pairs: Vec<_> = (1000..1060).map(|i| (i, i * 7)).collect();
        let compact = serde_json::to_string(&serde_json::json!({ "buckets": pairs })).unwrap();
        let printed = print(&compact);
        assert!(printed.lines().count() < 15, "{printed}");
        assert!(printed.lines().all(|line| line.len() <= COLUMNS), "{printed}");
        same(&compact);
    }

    #[test]
    fn nothing_is_lost() {
        same(r#"{"µ":"\\","n":null,"deep":[[[{"a":{"b":[1.5e-7,true,"]}"]}}]]],"empty":{}}"#);
        let long = "x,:[]{}\\\"".repeat(60);
        same(&serde_json::json!({ "a": [long, { "b": long }], "c": [[], {}, long] }).to_string());
    }
}
