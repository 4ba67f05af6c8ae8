//! Paths of operands.

use super::grammar;
use candor_front::Refused;

/// The paths of a word: removes `file://`, and expands brackets unless `plain`.
///
/// # Errors
/// A bracket is wrong, or the scheme is unknown.
pub fn expand(word: &str, plain: bool) -> Result<Vec<String>, Refused> {
    if let Some((scheme @ ("s3" | "hdfs"), _)) = word.split_once("://") {
        let message = format!("`{word}` is no path of this host");
        let why = format!("candor has no client of {scheme}; name files or directories");
        return Err(Refused::whole(word, message, why));
    }
    let path = word.strip_prefix("file://").unwrap_or(word);
    match (path, plain) {
        ("", _) => Ok(Vec::new()),
        (_, true) => Ok(vec![path.to_owned()]),
        (_, false) => grammar::expand(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_name_several_paths() {
        let of = |word, plain| expand(word, plain).unwrap_or_else(|refused| vec![refused.message]);
        assert_eq!(of("/a", false), ["/a"]);
        assert_eq!(of("/a,b@c", false), ["/a,b@c"], "nothing but brackets separates");
        assert_eq!(of("file:///a[1,2]", false), ["/a1", "/a2"]);
        assert_eq!(of("/a[1-2]", true), ["/a[1-2]"]);
        assert_eq!(of("s3://bucket", false), ["`s3://bucket` is no path of this host"]);
    }
}
