//! Paths: words into paths, and what they are.

use super::grammar;
use crate::kit::Refused;

/// The paths of a word: several with `,`, `@` or a line break between; `file://` in front is cut
/// off, and brackets are expanded unless `plain`.
///
/// # Errors
/// A bracket is wrong, or the scheme is another one.
pub fn expand(word: &str, plain: bool) -> Result<Vec<String>, Refused> {
    const SEPARATORS: &[char] = &[',', '@', '\n'];
    let pieces = match plain {
        true => word.split(SEPARATORS).filter(|piece| !piece.is_empty()).collect(),
        false => grammar::split(word, SEPARATORS),
    };
    let mut paths = Vec::new();
    for piece in pieces {
        if let Some((scheme @ ("s3" | "hdfs"), _)) = piece.split_once("://") {
            let message = format!("`{piece}` is no path of this host");
            let why = format!("candor has no client of {scheme}; name files or directories");
            return Err(Refused::whole(word, message, why));
        }
        let path = piece.strip_prefix("file://").unwrap_or(piece);
        match plain {
            true => paths.push(path.to_owned()),
            false => paths.extend(grammar::expand(path)?),
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_one_path_or_several() {
        let of = |word, plain| expand(word, plain).unwrap_or_else(|refused| vec![refused.message]);
        assert_eq!(of("/a", false), ["/a"]);
        assert_eq!(of("/a,/b@/c\n/d", false), ["/a", "/b", "/c", "/d"]);
        assert_eq!(of("file:///a[1,2]", false), ["/a1", "/a2"]);
        assert_eq!(of("/a[1-2]", true), ["/a[1-2]"]);
        assert_eq!(of("s3://bucket", false), ["`s3://bucket` is no path of this host"]);
    }
}
