//! Base64 with padding, as lists have it for names that hold line ends.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends bytes as letters.
pub fn encode(bytes: &[u8], to: &mut Vec<u8>) {
    for chunk in bytes.chunks(3) {
        let mut bytes = [0; 4];
        bytes[1..=chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(bytes);
        for nth in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * nth) & 63) as usize];
            to.push(if nth > chunk.len() { b'=' } else { letter });
        }
    }
}

/// Decodes letters; none if they are not base64.
pub fn decode(letters: &[u8]) -> Option<Vec<u8>> {
    let padding = letters.iter().rev().take_while(|letter| **letter == b'=').count();
    if !letters.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(letters.len() / 4 * 3);
    for chunk in letters[..letters.len() - padding].chunks(4) {
        let mut word = 0;
        for letter in chunk {
            word = word << 6 | LETTERS.iter().position(|known| known == letter)? as u32;
        }
        let missing = 4 - chunk.len() as u32;
        let all = (word << (6 * missing)).to_be_bytes();
        bytes.extend_from_slice(&all[1..4 - missing as usize]);
    }
    Some(bytes)
}
