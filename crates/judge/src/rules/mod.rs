//! Every rule, one file each.

mod a1;
mod a13;
mod a16;
mod a17;
mod a2;
mod a3;
mod a5;
mod a6;
mod a8;
mod a9;
mod b1;
mod b10;
mod b13;
mod b14;
mod b16;
mod b17;
mod b18;
mod b2;
mod b3;
mod b4;
mod b5;
mod b6;
mod b7;
mod b8;
mod b9;
mod c1;
mod c10;
mod c11;
mod c12;
mod c2;
mod c3;
mod c4;
mod c5;
mod c6;
mod c8;
mod c9;
mod d8;
mod d9;
mod f10;
mod f4;
mod g1;
mod g10;
mod g13;
mod g15;
mod g2;
mod g3;
mod g4;
mod g5;
mod g7;
mod g8;
mod unread;

use crate::rule::{Rule, RuleText};

/// Every rule, in the order of the evidence book.
pub const RULES: &[Rule] = &[
    a1::RULE,
    a2::RULE,
    a3::RULE,
    a5::RULE,
    a6::RULE,
    a8::RULE,
    a9::RULE,
    a13::RULE,
    a16::RULE,
    a17::RULE,
    b1::RULE,
    b2::RULE,
    b3::RULE,
    b4::RULE,
    b5::RULE,
    b6::RULE,
    b7::RULE,
    b8::RULE,
    b9::RULE,
    b10::RULE,
    b13::RULE,
    b14::RULE,
    b16::RULE,
    b17::RULE,
    b18::RULE,
    c1::RULE,
    c2::RULE,
    c3::RULE,
    c4::RULE,
    c5::RULE,
    c6::RULE,
    c8::RULE,
    c9::RULE,
    c10::RULE,
    c11::RULE,
    c12::RULE,
    d8::RULE,
    d9::RULE,
    f4::RULE,
    f10::RULE,
    g1::RULE,
    g2::RULE,
    g3::RULE,
    g4::RULE,
    g5::RULE,
    g7::RULE,
    g8::RULE,
    g10::RULE,
    g13::RULE,
    g15::RULE,
];

static TEXTS: [RuleText; RULES.len()] = {
    let mut texts = [RULES[0].text; RULES.len()];
    let mut i = 0;
    while i < RULES.len() {
        texts[i] = RULES[i].text;
        i += 1;
    }
    texts
};

/// What a person can read about each rule.
pub fn texts() -> &'static [RuleText] {
    &TEXTS
}
