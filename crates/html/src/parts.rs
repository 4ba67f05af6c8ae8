//! Parts of pages: tables, lists, commands to copy, files to keep.

use candor_record::PhaseRecord;
use candor_show::{Align, Cell, Table, Tone};
use crc_fast::CrcAlgorithm;

use crate::markup::Markup;

/// The class of a role.
pub fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Strong => "strong",
        Tone::Dim => "dim",
        Tone::Good => "good",
        Tone::Caution => "caution",
        Tone::Bad => "bad",
    }
}

/// A table in a frame that scrolls where the page is narrow.
pub fn table(into: &mut Markup, caption: &str, table: &Table) {
    scrolling(into, caption, |into| {
        into.element("caption", &[("class", "unseen")], caption);
        into.within("thead", &[], |head| {
            head.within("tr", &[], |row| {
                for (nth, (name, align)) in table.columns.iter().enumerate() {
                    let align = if nth == 0 { Align::Left } else { *align };
                    row.element("th", &[("scope", "col"), ("class", side(align))], name);
                }
            });
        });
        into.within("tbody", &[], |body| {
            for cells in &table.rows {
                body.within("tr", &[], |row| {
                    for (nth, cell) in cells.iter().enumerate() {
                        let align = table.columns.get(nth).map_or(Align::Left, |(_, align)| *align);
                        cell_of(row, cell, align, nth == 0);
                    }
                });
            }
        });
    });
}

/// A frame around the rows of a table; it takes the keyboard, since it may scroll.
pub fn scrolling(into: &mut Markup, label: &str, rows: impl FnOnce(&mut Markup)) {
    let frame = [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", label)];
    into.within("div", &frame, |frame| frame.within("table", &[], rows));
}

/// The class of a column.
pub fn side(align: Align) -> &'static str {
    if align == Align::Right { "number" } else { "words" }
}

/// One cell; the first of a row is its head.
pub fn cell_of(into: &mut Markup, cell: &Cell, align: Align, is_head: bool) {
    let tone = cell.tone.map_or("", class);
    // The first column stands at the edge of the page, numbers too.
    let class = format!("{} {tone}", side(if is_head { Align::Left } else { align }));
    if is_head {
        into.element("th", &[("scope", "row"), ("class", class.trim())], cell.text.trim());
    } else {
        into.element("td", &[("class", class.trim())], &cell.text);
    }
}

/// Names with their texts.
pub fn named(into: &mut Markup, lines: &[(impl AsRef<str>, String)]) {
    into.within("dl", &[], |list| {
        for (name, text) in lines {
            list.element("dt", &[], name.as_ref());
            list.element("dd", &[], text);
        }
    });
}

/// Sentences, one below the other.
pub fn list(into: &mut Markup, lines: &[String]) {
    into.within("ul", &[], |list| lines.iter().for_each(|line| list.element("li", &[], line)));
}

/// A text to copy as it is: a command, a plan.
pub fn copyable(into: &mut Markup, text: &str) {
    into.within("div", &[("class", "copy")], |frame| {
        frame.within("pre", &[("tabindex", "0")], |pre| pre.element("code", &[], text));
    });
}

/// Something to look at on demand.
pub fn folded(into: &mut Markup, summary: &str, content: impl FnOnce(&mut Markup)) {
    into.within("details", &[], |details| {
        details.element("summary", &[], summary);
        content(details);
    });
}

/// A link that holds a file: the browser saves it without a script and without a network.
pub fn download(into: &mut Markup, name: &str, kind: &str, bytes: &[u8]) {
    into.trusted(&format!("<a class=\"file\" href=\"data:{kind};base64,{}\"", base64(bytes)));
    into.trusted(" download=\"");
    into.text(name);
    into.trusted("\">");
    into.text(name);
    into.trusted("</a>\n");
}

/// Level of compression: twice as fast as the usual one, a tenth larger.
const COMPRESSION: u8 = 4;

/// The text as a gzip file.
pub fn gzip(text: &str) -> Vec<u8> {
    // No flags, no time, system unknown: equal texts give equal files.
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    file.extend(miniz_oxide::deflate::compress_to_vec(text.as_bytes(), COMPRESSION));
    let sum = crc_fast::checksum(CrcAlgorithm::Crc32IsoHdlc, text.as_bytes()) as u32;
    file.extend(sum.to_le_bytes());
    file.extend((text.len() as u32).to_le_bytes());
    file
}

/// Bytes as text.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let mut bits = 0u32;
        (0..3).for_each(|i| bits = bits << 8 | u32::from(*three.get(i).unwrap_or(&0)));
        for digit in 0..4 {
            let index = bits >> (18 - 6 * digit) & 63;
            text.push(if digit > three.len() { '=' } else { char::from(DIGITS[index as usize]) });
        }
    }
    text
}

/// The name of a result; repeats have their number.
pub fn phase_name(phase: &PhaseRecord) -> String {
    match phase.repeat {
        0 => phase.name.clone(),
        nth => format!("{} #{}", phase.name, nth + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_in_sixty_four_digits() {
        let texts =
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn a_gzip_file_unpacks_to_its_text() {
        let file = gzip("words, words, words");
        let (deflated, end) = file[10..].split_at(file.len() - 18);
        let text = miniz_oxide::inflate::decompress_to_vec(deflated).expect("deflated");
        assert_eq!(text, b"words, words, words");
        assert_eq!(end[4..], 19u32.to_le_bytes());
        assert_eq!(end[..4], [0xff, 0xa4, 0x86, 0x1d]);
    }
}
