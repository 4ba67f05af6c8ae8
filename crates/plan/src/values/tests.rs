use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::{Engine, Plan};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    name: String,
    #[serde(default)]
    count: Option<u32>,
    #[serde(default)]
    ratios: Vec<f64>,
    #[serde(default)]
    offsets: BTreeMap<String, i64>,
    #[serde(default)]
    choice: Option<Choice>,
    #[serde(default)]
    tagged: Option<Tagged>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Plain,
    Depth(u8),
    Range { start: u64, end: u64 },
    Pair(i8, bool),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Tagged {
    Empty,
    Sized { size: u64 },
}

fn sample(tree: &Value) -> Result<Sample, String> {
    from_tree(tree).map_err(|misfit| misfit.to_string())
}

#[test]
fn every_kind_of_value_is_read() {
    let read = sample(&json!({
        "name": "µ", "count": 4, "ratios": [1, -2, 0.5], "offsets": {"a": -1},
        "choice": {"range": {"start": 1, "end": u64::MAX}}, "tagged": {"kind": "sized", "size": 7},
    }));
    let expected = Sample {
        name: "µ".to_owned(),
        count: Some(4),
        ratios: vec![1.0, -2.0, 0.5],
        offsets: BTreeMap::from([("a".to_owned(), -1)]),
        choice: Some(Choice::Range { start: 1, end: u64::MAX }),
        tagged: Some(Tagged::Sized { size: 7 }),
    };
    assert_eq!(read, Ok(expected));
    for (tree, choice) in [
        (json!("plain"), Choice::Plain),
        (json!({"plain": null}), Choice::Plain),
        (json!({"depth": 3}), Choice::Depth(3)),
        (json!({"pair": [-1, true]}), Choice::Pair(-1, true)),
    ] {
        assert_eq!(from_tree(&tree), Ok(choice));
    }
    assert_eq!(from_tree::<Option<u8>>(&Value::Null), Ok(None));
    assert_eq!(from_tree::<Tagged>(&json!({"kind": "empty"})), Ok(Tagged::Empty));
}

#[test]
fn a_mistake_has_its_place() {
    let cases = [
        (json!({}), "the document needs `name`"),
        (json!([]), "the document is not a table"),
        (json!({"name": 3}), "`name` is not a string"),
        (json!({"name": "x", "count": -1}), "`count` is not u32"),
        (json!({"name": "x", "ratios": [1, "y"]}), "`ratios[1]` is not f64"),
        (json!({"name": "x", "offsets": {"a": 0.5}}), "`offsets.a` is not i64"),
        (json!({"name": "x", "nam": 1}), "`nam` is an unknown key"),
        (json!({"name": "x", "choice": "depth"}), "`choice` needs the settings of its choice"),
        (json!({"name": "x", "choice": "none"}), "`choice` cannot be `none`"),
        (json!({"name": "x", "choice": {"none": 1}}), "`choice.none` is an unknown key"),
        (json!({"name": "x", "choice": {}}), "`choice` is empty"),
        (json!({"name": "x", "choice": 3}), "`choice` is not a word or a table of one word"),
        (json!({"name": "x", "choice": {"plain": 3}}), "`choice.plain` has no settings"),
        (
            json!({"name": "x", "choice": {"plain": {}, "depth": 1}}),
            "`choice` is given more than once",
        ),
        (json!({"name": "x", "choice": {"range": {"start": 1}}}), "`choice.range` needs `end`"),
    ];
    for (tree, sentence) in cases {
        assert_eq!(sample(&tree), Err(sentence.to_owned()), "{tree}");
    }
}

#[test]
fn what_was_struck_out_is_not_read() {
    let tree = json!({"name": "x", "ratios": ["bad", 2], "choice": {"plain": {}, "depth": 1}});
    let struck = ["ratios[0]", "choice.plain"].map(PlanPath::from).into();
    let read: Sample = from_rest(&tree, &struck).expect("the rest fits");
    assert_eq!((read.ratios, read.choice), (vec![2.0], Some(Choice::Depth(1))));
}

#[test]
fn a_text_that_is_not_json_and_one_that_does_not_fit_give_sentences() {
    for (text, result) in [
        ("{", Err("EOF while parsing an object at line 1 column 1".to_owned())),
        (r#"{"phase": [{"name": 1}]}"#, Err("`phase[0].name` is not a string".to_owned())),
        ("{}", Ok(Plan::default())),
    ] {
        assert_eq!(from_json(text.as_bytes()), result);
    }
    assert_eq!(from_json(b"\"psync\""), Ok(Engine::Psync));
    assert!(from_json::<Engine>(br#"{"psync": {"sqpoll": true}}"#).is_err());
}
