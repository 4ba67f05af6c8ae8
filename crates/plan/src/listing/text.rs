//! Lists as text: lines of directories and files.

use std::io::{self, BufRead, Read, Write};

use super::{Found, List, ListError, PATH_BYTES_MAX, base64};

/// Longest line: the longest path in base64, with a size. The rest of a longer one is no line.
const LINE_BYTES_MAX: u64 = 8 << 10;

/// Longest file: offsets in the kernel are signed.
const FILE_BYTES_MAX: u64 = i64::MAX as u64;

/// First line of a list whose paths are base64.
const BASE64_HEADER: &str = "# encoding=base64";

/// Remedy for a line of another form.
const FORM: &str = "write `d PATH` for a directory and `f BYTES PATH` for a file";

impl List {
    /// Reads lines `d PATH` and `f BYTES PATH`, line by line. Lines that begin with `#` say
    /// nothing, but that the first one may say that paths are base64.
    ///
    /// # Errors
    /// A line of another form, a path that leads out of the tree, or a name that is listed twice.
    pub fn read(mut from: impl BufRead) -> Result<List, ListError> {
        let (mut found, mut line, mut path) = (Found::default(), Vec::new(), Vec::new());
        let mut is_base64 = false;
        for number in 1.. {
            line.clear();
            let read = from.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            if read.map_err(|error| ListError::of_io("read", &error))? == 0 {
                break;
            }
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            if number == 1 {
                is_base64 = is_base64_header(text);
            }
            let added = add(&mut found, text, is_base64, &mut path);
            added.map_err(|error| ListError { line: Some(number), ..error })?;
        }
        found.list()
    }

    /// Writes the list as text, in base64 where a name holds a line end: directories first.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(&self, to: impl Write) -> io::Result<()> {
        let names = [&self.directories, &self.files];
        self.write_in(to, names.iter().any(|of| of.bytes.contains(&b'\n')))
    }

    /// The same with all names in base64.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_base64(&self, to: impl Write) -> io::Result<()> {
        self.write_in(to, true)
    }

    fn write_in(&self, mut to: impl Write, is_base64: bool) -> io::Result<()> {
        let mut line = Vec::new();
        if is_base64 {
            writeln!(to, "{BASE64_HEADER}")?;
        }
        let mut put = |begin: &str, name: &[u8]| {
            line.clear();
            line.extend_from_slice(begin.as_bytes());
            if is_base64 {
                base64::encode(name, &mut line);
            } else {
                line.extend_from_slice(name);
            }
            line.push(b'\n');
            to.write_all(&line)
        };
        for nth in 0..self.directories.len() {
            put("d ", self.directories.get(nth))?;
        }
        for nth in 0..self.files.len() {
            put(&format!("f {} ", self.sizes[nth]), self.files.get(nth))?;
        }
        to.flush()
    }
}

fn is_base64_header(line: &[u8]) -> bool {
    line.starts_with(b"#") && line.to_ascii_lowercase().windows(6).any(|word| word == b"base64")
}

/// Adds one line.
fn add(
    found: &mut Found,
    line: &[u8],
    is_base64: bool,
    path: &mut Vec<u8>,
) -> Result<(), ListError> {
    if line.trim_ascii().is_empty() || line.starts_with(b"#") {
        return Ok(());
    }
    // The root itself has no name.
    let bytes = match line {
        b"d" => return Ok(()),
        [b'd', b' ', ..] => None,
        [b'f', b' ', rest @ ..] => Some(rest),
        _ => return Err(wrong(line)),
    };
    let (bytes, written) = match bytes {
        None => (None, &line[2..]),
        Some(rest) => {
            let end = rest.iter().position(|byte| *byte == b' ').ok_or_else(|| wrong(line))?;
            (Some(size(&rest[..end]).ok_or_else(|| wrong(line))?), &rest[end + 1..])
        }
    };
    let decoded = is_base64.then(|| base64::decode(written.trim_ascii()));
    let decoded = match decoded {
        Some(None) => {
            let message = format!("`{}` is no base64", written.escape_ascii());
            return Err(ListError::new(message, "encode each path, or remove the first line"));
        }
        Some(decoded) => decoded,
        None => None,
    };
    plain(decoded.as_deref().unwrap_or(written), path)?;
    match bytes {
        None if path.is_empty() => Ok(()),
        None => found.directories.push(path),
        Some(_) if path.is_empty() => Err(wrong(line)),
        Some(bytes) => found.add_file(path, bytes),
    }
}

fn size(digits: &[u8]) -> Option<u64> {
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (number <= FILE_BYTES_MAX && digits[0] != b'+').then_some(number)
}

fn wrong(line: &[u8]) -> ListError {
    const SHOWN: usize = 80;
    let shown = line[..line.len().min(SHOWN)].escape_ascii();
    ListError::new(format!("`{shown}` is no line of a list"), FORM)
}

fn refused(path: &[u8], why: &str) -> Result<(), ListError> {
    let message = format!("`{}` {why}", path.escape_ascii());
    Err(ListError::new(message, "write paths relative to the root of the tree"))
}

/// Writes a path without `.` and empty parts; one that leads out of the tree is refused.
fn plain(written: &[u8], path: &mut Vec<u8>) -> Result<(), ListError> {
    path.clear();
    if written.starts_with(b"/") {
        return refused(written, "is absolute");
    }
    if written.contains(&0) {
        return refused(written, "holds a zero byte");
    }
    for part in written.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => continue,
            b".." => return refused(written, "leads out of the tree"),
            _ => {}
        }
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(part);
    }
    if path.len() > PATH_BYTES_MAX {
        return refused(written, "is longer than a path may be");
    }
    Ok(())
}
