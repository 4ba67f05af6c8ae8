//! Lists: values per direction, floating-point numbers, CPUs.

use candor_plan::units::cpu_list;

use super::{Read, Refused, Value, parts};

/// Values for reads, writes and trims. A value without separator after it covers the rest; an empty
/// one is `None`, which keeps the direction's value.
pub fn by_direction<T: Clone>(
    text: &str,
    separators: &[char],
    read: impl Fn(&str) -> Value<T>,
) -> Value<[Option<T>; 3]> {
    let parts = parts(text, |c| separators.contains(&c));
    if let Some((start, rest)) = parts.get(3) {
        return Err(Refused {
            message: format!("`{text}` has more than three values, for reads, writes and trims"),
            remedy: "give at most three".to_owned(),
            part: *start..start + rest.len(),
        });
    }
    let (mut values, mut remark) = ([None, None, None], None);
    for (nth, (start, part)) in parts.iter().enumerate() {
        if part.trim().is_empty() && parts.len() > 1 {
            continue;
        }
        let blanks = part.len() - part.trim_start().len();
        let one = read(part.trim()).map_err(|refused| refused.behind(start + blanks))?;
        remark = remark.or(one.remark);
        values[nth] = Some(one.value);
    }
    // The last value covers the rest, unless empty.
    let last = values[parts.len() - 1].clone();
    values[parts.len()..].fill(last);
    Ok(Read { value: values, remark })
}

/// Numbers for reads, writes and trims. Without commas, colons and minus signs separate.
pub fn numbers_by_direction<T: Clone>(
    text: &str,
    read: impl Fn(&str) -> Value<T>,
) -> Value<[Option<T>; 3]> {
    const OTHER: [char; 2] = [':', '-'];
    let has_other = text.get(1..).is_some_and(|behind_sign| behind_sign.contains(OTHER));
    if !has_other || text.starts_with(OTHER) || text.contains([',', '(']) {
        return by_direction(text, &[','], read);
    }
    let all = by_direction(text, &OTHER, read)?;
    let values = text.replace(OTHER, ",");
    let remark = format!(
        "`{text}` is read as `{values}`, as fio does: a value each for reads, writes and trims, \
         and no range"
    );
    Ok(Read { value: all.value, remark: all.remark.or(Some(remark)) })
}

/// A number that may have decimals.
pub fn decimal(text: &str) -> Value<f64> {
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    // Rust reads `inf` and exponents as numbers, users of fio do not.
    let plain = text.trim().bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
    match number.filter(|_| plain) {
        Some(number) => Ok(Read::plain(number)),
        None => {
            let read: String =
                text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            let reading = match read.parse::<f64>() {
                Ok(read) => format!("; fio takes it as {read}"),
                Err(_) => String::new(),
            };
            let message = format!("`{text}` is not a number with decimals{reading}");
            Err(Refused::whole(text, message, "write it as 99.9"))
        }
    }
}

/// Numbers that may have decimals, separated by colons. fio reads the first of a list with commas.
pub fn floats(text: &str) -> Value<Vec<f64>> {
    let (mut numbers, mut remark) = (Vec::new(), None);
    for (start, part) in parts(text, |c| c == ':') {
        let (first, rest) = part.split_once(',').unwrap_or((part, ""));
        numbers.push(decimal(first).map_err(|refused| refused.behind(start))?.value);
        if !rest.is_empty() && remark.is_none() {
            remark = Some(format!(
                "`{part}` is read as {first}, as fio does, which separates with colons: the list \
                 would be {}",
                text.replace(',', ":")
            ));
        }
    }
    Ok(Read { value: numbers, remark })
}

/// CPUs, such as `0-3,8`: ascending, each once.
pub fn cpus(text: &str) -> Value<Vec<u32>> {
    let (mut cpus, mut remark) = (Vec::new(), None);
    for (start, part) in parts(text, |c| c == ',') {
        let (part, rest) = part.split_once(':').unwrap_or((part, ""));
        if !rest.is_empty() {
            remark = Some(format!(
                "`{part}:{rest}` is read as CPU {part}, as fio does; both are `{part},{rest}`, and \
                 a range `{part}-{rest}`"
            ));
        }
        let found = cpu_list(part).ok().filter(|found| !found.is_empty());
        cpus.extend(found.ok_or_else(|| {
            let message = format!("`{part}` is not a CPU or a range of CPUs");
            Refused::whole(part, message, "write 0-3,8").behind(start)
        })?);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(Read { value: cpus, remark })
}
