//! Widths of texts: estimates for the widest of the usual sans-serif fonts, so that what fits here
//! fits everywhere.

/// Width of a text in pixels at a font size.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

/// Width of a character in parts of the font size.
fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' => 0.29,
        ' ' | '.' | ',' | ':' | ';' | 'I' | '!' => 0.33,
        'f' | 't' | '(' | ')' | '[' | ']' | '/' | '-' | '·' => 0.39,
        'r' | 's' | 'J' | '"' | '°' => 0.5,
        'm' | 'M' | 'W' | '%' | '…' | '—' => 0.97,
        'w' | '+' | '=' | '<' | '>' | '±' | '×' | '÷' => 0.83,
        '_' | '–' => 0.52,
        'O' | 'Q' | 'D' | 'G' | 'H' | 'N' | 'U' => 0.77,
        'A'..='Z' => 0.69,
        'a'..='z' | '0'..='9' => 0.625,
        c if c < '\u{2e80}' => 0.68,
        _ => 1.0,
    }
}

/// The text, cut to a width with an ellipsis; empty where not even a letter fits.
pub fn cut(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = em('…') * size;
    for c in text.chars() {
        used += em(c) * size;
        if used > room {
            break;
        }
        kept.push(c);
    }
    match kept.trim_end() {
        "" => String::new(),
        kept => format!("{kept}…"),
    }
}

/// The text in at most so many lines of a width; the last is cut where more is left.
pub fn wrap(text: &str, size: f64, room: f64, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while words.peek().is_some() {
        if lines.len() + 1 == lines_max {
            let rest: Vec<&str> = words.collect();
            lines.push(cut(&rest.join(" "), size, room));
            break;
        }
        let mut line = String::new();
        while let Some(word) = words.peek() {
            let longer =
                if line.is_empty() { (*word).to_owned() } else { format!("{line} {word}") };
            if width(&longer, size) > room && !line.is_empty() {
                break;
            }
            line = longer;
            words.next();
        }
        lines.push(cut(&line, size, room));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_texts_fit() {
        let text = "sequential reads of 1 MiB on /dev/nvme0n1";
        for room in [0.0, 5.0, 40.0, 100.0, 300.0] {
            let cut = cut(text, 12.0, room);
            assert!(width(&cut, 12.0) <= room, "{cut} in {room}");
        }
        assert_eq!(cut("read", 12.0, 100.0), "read");
        assert_eq!(cut("reading", 10.0, 35.0), "read…");
    }

    #[test]
    fn lines_wrap_at_words_and_the_last_is_cut() {
        let text = "Not the storage's number (the page cache): only 3 % of the bytes were read.";
        let lines = wrap(text, 10.0, 220.0, 3);
        assert_eq!(lines.join(" "), text);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 10.0) <= 220.0));
        let short = wrap(text, 10.0, 220.0, 1);
        assert!(short.len() == 1 && short[0].ends_with('…'), "{short:?}");
        assert_eq!(wrap("", 10.0, 100.0, 3), Vec::<String>::new());
    }
}
