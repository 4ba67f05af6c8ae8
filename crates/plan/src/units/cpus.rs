//! Lists of CPUs, as the kernel writes them and people type them: `0-3,8`.

/// More than any kernel has.
const CPU_MAX: u32 = 8191;

/// The CPUs of a list, in its order; an empty text has none.
///
/// # Errors
/// The part that is no CPU and no range of CPUs.
pub fn cpu_list(text: &str) -> Result<Vec<u32>, &str> {
    let mut cpus = Vec::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let ends = first.trim().parse::<u32>().ok().zip(last.trim().parse().ok());
        let (first, last) = ends.filter(|(a, b)| a <= b && *b <= CPU_MAX).ok_or(part)?;
        cpus.extend(first..=last);
    }
    Ok(cpus)
}
