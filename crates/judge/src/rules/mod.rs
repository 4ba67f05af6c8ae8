//! Every rule, one file each.

mod a1;
mod a10;
mod a11;
mod a12;
mod a13;
mod a14;
mod a15;
mod a16;
mod a17;
mod a18;
mod a2;
mod a3;
mod a4;
mod a5;
mod a6;
mod a7;
mod a8;
mod a9;
mod b1;
mod b10;
mod b11;
mod b12;
mod b13;
mod b14;
pub mod b15;
mod b16;
mod b17;
mod b18;
mod b19;
mod b2;
mod b3;
mod b4;
mod b5;
mod b6;
mod b7;
pub mod b8;
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
mod c7;
mod c8;
mod c9;
mod d1;
mod d10;
mod d2;
mod d3;
mod d4;
mod d5;
mod d6;
mod d7;
mod d8;
mod d9;
mod e1;
mod e2;
pub mod e3;
mod e4;
mod e5;
mod e6;
mod e7;
mod e8;
mod e9;
mod f1;
mod f10;
mod f11;
mod f12;
mod f13;
mod f14;
mod f2;
mod f3;
mod f4;
mod f5;
mod f6;
mod f7;
mod f8;
mod f9;
mod g1;
mod g10;
mod g11;
mod g12;
mod g13;
mod g15;
mod g2;
mod g3;
mod g4;
mod g5;
mod g7;
mod g8;
mod g9;
mod h1;
mod h2;
mod h3;
mod h5;
mod slow_link;
mod slow_member;
mod unread;

use crate::rule::{Rule, RuleText};

/// Every rule, in the order of the evidence book.
pub const RULES: &[Rule] = &[
    a1::RULE,
    a2::RULE,
    a3::RULE,
    a4::RULE,
    a5::RULE,
    a6::RULE,
    a7::RULE,
    a8::RULE,
    a9::RULE,
    a10::RULE,
    a11::RULE,
    a12::RULE,
    a13::RULE,
    a14::RULE,
    a15::RULE,
    a16::RULE,
    a17::RULE,
    a18::RULE,
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
    b11::RULE,
    b12::RULE,
    b13::RULE,
    b14::RULE,
    b15::RULE,
    b16::RULE,
    b17::RULE,
    b18::RULE,
    b19::RULE,
    c1::RULE,
    c2::RULE,
    c3::RULE,
    c4::RULE,
    c5::RULE,
    c6::RULE,
    c7::RULE,
    c8::RULE,
    c9::RULE,
    c10::RULE,
    c11::RULE,
    c12::RULE,
    d1::RULE,
    d2::RULE,
    d3::RULE,
    d4::RULE,
    d5::RULE,
    d6::RULE,
    d7::RULE,
    d8::RULE,
    d9::RULE,
    d10::RULE,
    e1::RULE,
    e2::RULE,
    e3::RULE,
    e4::RULE,
    e5::RULE,
    e6::RULE,
    e7::RULE,
    e8::RULE,
    e9::RULE,
    f1::RULE,
    f2::RULE,
    f3::RULE,
    f4::RULE,
    f5::RULE,
    f6::RULE,
    f7::RULE,
    f8::RULE,
    f9::RULE,
    f10::RULE,
    f11::RULE,
    f12::RULE,
    f13::RULE,
    f14::RULE,
    g1::RULE,
    g2::RULE,
    g3::RULE,
    g4::RULE,
    g5::RULE,
    g7::RULE,
    g8::RULE,
    g9::RULE,
    g10::RULE,
    g11::RULE,
    g12::RULE,
    g13::RULE,
    g15::RULE,
    h1::RULE,
    h2::RULE,
    h3::RULE,
    h5::RULE,
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
