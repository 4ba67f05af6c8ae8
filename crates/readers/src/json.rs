//! JSON within a text, with the line of a fault.

use candor_plan::values;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The document that begins at a byte of the text; anything may stand behind it.
///
/// # Errors
/// A sentence with the line and column of the fault.
pub fn document<T: DeserializeOwned>(name: &str, text: &str, at: usize) -> Result<T, String> {
    let mut documents = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
    let before = text[..at].matches('\n').count();
    let error = match documents.next() {
        Some(Ok(tree)) => {
            let of_line = match before {
                0 => String::new(),
                lines => format!(" (in the document of line {})", lines + 1),
            };
            return values::from_tree(&tree).map_err(|misfit| format!("{name}: {misfit}{of_line}"));
        }
        Some(Err(error)) => error,
        None => return Err(format!("{name}: holds no JSON")),
    };
    let (line, column) = (before + error.line(), error.column());
    // The library names a place that counts from where this document begins.
    let sentence = error.to_string();
    let what = sentence.rfind(" at line ").map_or(sentence.as_str(), |end| &sentence[..end]);
    Err(if error.is_eof() {
        format!("{name}:{line}:{column}: ends in the middle of its JSON")
    } else {
        format!("{name}:{line}:{column}: {what}")
    })
}

/// The bytes at which documents begin: lines that are an opening brace and nothing else, as tools
/// write them that put text before, or the first brace.
pub fn starts(text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut starts = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "{" {
            starts.push(at);
        }
        at += line.len();
    }
    if starts.is_empty() {
        starts.extend(text.find('{'));
    }
    starts
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn documents_begin_behind_text_and_faults_have_the_line_of_the_file() {
        let text =
            "note: { is no brace\n{\n  \"a\" : [\n    {\n    }\n  ]\n}\nmore\n{\n \"a\" : x\n}\n";
        let [first, second] = starts(text)[..] else { panic!("two documents") };
        let document_at = |at| document::<Value>("f", text, at);
        assert_eq!(document_at(first).expect("JSON")["a"][0], serde_json::json!({}));
        assert_eq!(document_at(second), Err("f:10:8: expected value".to_owned()));
        assert_eq!(starts("x {\"a\":1}"), [2]);
        assert!(starts("none").is_empty());
        let cut = document::<Value>("f", "\n{\n\"a\": [1,", 1);
        assert_eq!(cut, Err("f:3:8: ends in the middle of its JSON".to_owned()));
    }
}
