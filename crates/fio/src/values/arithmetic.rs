//! Arithmetic: parenthesised values with units, and sums around `$ncpus` and its kin.

use super::Refused;

/// Maximum nesting of parentheses.
const DEPTH_MAX: usize = 64;

/// The largest result, up to its sign.
const MAX: i128 = u64::MAX as i128;

/// A number: exact as long as nothing has decimals.
#[derive(Clone, Copy, Debug)]
enum Number {
    Whole(i128),
    Real(f64),
}

use Number::{Real, Whole};

impl Number {
    fn real(self) -> f64 {
        match self {
            Whole(value) => value as f64,
            Real(value) => value,
        }
    }
}

/// The value of an expression that begins with a parenthesis: `(4*1024)k`, `(8k+(2^10))`.
/// `unit` returns the factor of a unit.
pub(super) fn evaluate(text: &str, unit: &dyn Fn(&str) -> Option<i128>) -> Result<i128, Refused> {
    let mut reader = Reader { text, at: 0, depth: 0, unit };
    let value = reader.sum()?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.wrong("an operator is missing here"));
    }
    match value {
        Whole(value) if value.abs() <= MAX => Ok(value),
        Real(value) if value.abs() < MAX as f64 => Ok(value as i128),
        _ => Err(reader.too_large()),
    }
}

/// The value of a sum without parentheses around it and without units, as `8*$mb_memory` gives
/// once the keyword is replaced. `None` if the text is no sum.
pub fn plain_arithmetic(text: &str) -> Option<Result<i128, Refused>> {
    let has_operator = text
        .trim_start()
        .get(1..)
        .is_some_and(|rest| rest.contains(['+', '-', '*', '/', '%', '^']));
    let is_sum = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-*/%^() ".contains(&byte))
        && has_operator;
    is_sum.then(|| evaluate(text, &|unit| unit.is_empty().then_some(1)))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    unit: &'a dyn Fn(&str) -> Option<i128>,
}

type Part = Result<Number, Refused>;

impl Reader<'_> {
    fn wrong(&self, why: &str) -> Refused {
        let here = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
        let end = (self.at + here).min(self.text.len());
        Refused {
            message: format!("`{}` cannot be worked out: {why}", self.text),
            remedy: "write numbers, + - * / % ^ and parentheses, such as (4*1024)k".to_owned(),
            part: self.at.min(end)..end,
        }
    }

    fn too_large(&self) -> Refused {
        let message = format!("`{}` is too large for 64 bits", self.text);
        Refused::whole(self.text, message, "give a smaller number")
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
    }

    /// Reads the next operator if it is one of these.
    fn operator(&mut self, of: &str) -> Option<char> {
        self.blanks();
        let found = self.text[self.at..].chars().next().filter(|c| of.contains(*c))?;
        self.at += 1;
        Some(found)
    }

    fn sum(&mut self) -> Part {
        let mut left = self.product()?;
        while let Some(operator) = self.operator("+-") {
            let right = self.product()?;
            left = self.apply(operator, left, right)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Part {
        let mut left = self.signed()?;
        while let Some(operator) = self.operator("*/%") {
            let right = self.signed()?;
            left = self.apply(operator, left, right)?;
        }
        Ok(left)
    }

    fn signed(&mut self) -> Part {
        let mut negative = false;
        while let Some(sign) = self.operator("+-") {
            negative ^= sign == '-';
        }
        let value = self.power()?;
        Ok(match (negative, value) {
            (false, value) => value,
            (true, Whole(value)) => Whole(-value),
            (true, Real(value)) => Real(-value),
        })
    }

    /// Powers bind to the right: 2^3^2 is 2^9.
    fn power(&mut self) -> Part {
        let base = self.operand()?;
        if self.operator("^").is_none() {
            return Ok(base);
        }
        self.deeper()?;
        let exponent = self.signed()?;
        self.depth -= 1;
        self.apply('^', base, exponent)
    }

    fn operand(&mut self) -> Part {
        let value = match self.operator("(") {
            Some(_) => self.parenthesised()?,
            None => self.number()?,
        };
        let rest = &self.text[self.at..];
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        if letters == 0 {
            return Ok(value);
        }
        let Some(factor) = (self.unit)(&rest[..letters]) else {
            return Err(self.wrong(&format!("`{}` is no unit here", &rest[..letters])));
        };
        self.at += letters;
        self.apply('*', value, Whole(factor))
    }

    fn deeper(&mut self) -> Result<(), Refused> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err(self.wrong("it is nested too deeply")) } else { Ok(()) }
    }

    fn parenthesised(&mut self) -> Part {
        self.deeper()?;
        let inner = self.sum()?;
        if self.operator(")").is_none() {
            return Err(self.wrong("a closing parenthesis is missing"));
        }
        self.depth -= 1;
        Ok(inner)
    }

    fn number(&mut self) -> Part {
        self.blanks();
        let rest = &self.text[self.at..];
        let hex = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
        let (length, value) = match hex {
            Some(hex) => {
                let digits = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
                (2 + digits, i128::from_str_radix(&hex[..digits], 16).ok().map(Whole))
            }
            None => {
                let length =
                    rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
                (length, decimal(&rest[..length]))
            }
        };
        let value = value.ok_or_else(|| self.wrong("a number is missing here"))?;
        self.at += length;
        Ok(value)
    }

    fn apply(&self, operator: char, left: Number, right: Number) -> Part {
        let by_zero = operator != '^' && "/%".contains(operator) && right.real() == 0.0;
        if by_zero {
            return Err(self.wrong("it divides by zero"));
        }
        let (Whole(a), Whole(b)) = (left, right) else {
            return self.reals(operator, left.real(), right.real());
        };
        let value = match operator {
            '+' => a.checked_add(b),
            '-' => a.checked_sub(b),
            '*' => a.checked_mul(b),
            '/' => a.checked_div(b),
            '%' => a.checked_rem(b),
            _ if b < 0 => return self.reals(operator, a as f64, b as f64),
            _ => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        };
        // Far out of range, but negation does not overflow.
        let value = value.filter(|value| value.unsigned_abs() < 1 << 120);
        value.map(Whole).ok_or_else(|| self.too_large())
    }

    fn reals(&self, operator: char, a: f64, b: f64) -> Part {
        let value = match operator {
            '+' => a + b,
            '-' => a - b,
            '*' => a * b,
            '/' => a / b,
            '%' => a % b,
            _ => a.powf(b),
        };
        if value.is_finite() { Ok(Real(value)) } else { Err(self.too_large()) }
    }
}

fn decimal(text: &str) -> Option<Number> {
    if text.contains('.') { text.parse().ok().map(Real) } else { text.parse().ok().map(Whole) }
}
