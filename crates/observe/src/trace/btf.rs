//! Where the fields of the kernel's structures are, from the description of its types (BTF).
//!
//! Layouts change from kernel to kernel; `/sys/kernel/btf/vmlinux` describes the running one. The
//! format is that of the kernel's `Documentation/bpf/btf.rst`.

use std::collections::HashMap;

/// The types of a kernel.
#[derive(Debug)]
pub struct Btf<'a> {
    types: Vec<Type<'a>>,
    strings: &'a [u8],
    /// The first of each name and kind.
    named: HashMap<(&'a [u8], u8), u32>,
}

#[derive(Clone, Copy, Debug)]
struct Type<'a> {
    kind: u8,
    /// The upper bit of the description: offsets of members have a width in their upper byte.
    flag: bool,
    /// A size, or the type that it refers to.
    size_or_type: u32,
    /// Bytes behind the description.
    rest: &'a [u8],
}

const PTR: u8 = 2;
const STRUCT: u8 = 4;
const UNION: u8 = 5;
const ENUM: u8 = 6;
const TYPEDEF: u8 = 8;
const FUNC_PROTO: u8 = 13;
const ENUM64: u8 = 19;
const MAGIC: u16 = 0xeb9f;

/// Types within types are followed so far.
const DEPTH_MAX: u8 = 8;

impl<'a> Btf<'a> {
    /// Reads the description; none if it is not one.
    pub fn parse(bytes: &'a [u8]) -> Option<Btf<'a>> {
        let header = |at: usize| number(bytes, 8 + at * 4);
        if bytes.len() < 24 || u16::from_le_bytes([bytes[0], bytes[1]]) != MAGIC {
            return None;
        }
        let start = number(bytes, 4)? as usize;
        let section = |offset: u32, length: u32| {
            let from = start.checked_add(offset as usize)?;
            bytes.get(from..from.checked_add(length as usize)?)
        };
        let mut left = section(header(0)?, header(1)?)?;
        let strings = section(header(2)?, header(3)?)?;
        // Type 0 is "nothing".
        let nothing = Type { kind: 0, flag: false, size_or_type: 0, rest: &[] };
        let mut btf = Btf { types: vec![nothing], strings, named: HashMap::new() };
        while !left.is_empty() {
            let (name, info) = (number(left, 0)?, number(left, 4)?);
            let kind = (info >> 24 & 0x1f) as u8;
            let (rest, next) = left.get(12..)?.split_at_checked(extra(kind, info & 0xffff)?)?;
            let of = Type { kind, flag: info >> 31 == 1, size_or_type: number(left, 8)?, rest };
            let id = btf.types.len() as u32;
            let name = text(strings, name)?;
            if !name.is_empty() {
                btf.named.entry((name, kind)).or_insert(id);
            }
            btf.types.push(of);
            left = next;
        }
        Some(btf)
    }

    /// Where a field of a structure is, in bytes from its start. `bi_iter.bi_size` is a field of a
    /// field; fields of nameless members count as the structure's own.
    pub fn field(&self, structure: &str, path: &str) -> Option<u32> {
        let mut of = *self.named.get(&(structure.as_bytes(), STRUCT))?;
        let mut offset = 0;
        for name in path.split('.') {
            let (bits, inner) = self.member(of, name.as_bytes(), DEPTH_MAX)?;
            offset += bits / 8;
            of = self.plain(inner)?;
        }
        Some(offset)
    }

    fn member(&self, of: u32, name: &[u8], depth: u8) -> Option<(u32, u32)> {
        let whole = self.types.get(of as usize)?;
        if depth == 0 || !matches!(whole.kind, STRUCT | UNION) {
            return None;
        }
        whole.rest.chunks_exact(12).find_map(|member| {
            let (called, inner) = (text(self.strings, number(member, 0)?)?, number(member, 4)?);
            let bits = number(member, 8)?;
            let bits = if whole.flag { bits & 0xff_ffff } else { bits };
            if called == name {
                return Some((bits, inner));
            }
            if !called.is_empty() {
                return None;
            }
            let (more, found) = self.member(inner, name, depth - 1)?;
            Some((bits.checked_add(more)?, found))
        })
    }

    /// The type behind names and qualifiers.
    fn plain(&self, mut id: u32) -> Option<u32> {
        for _ in 0..DEPTH_MAX {
            let of = self.types.get(id as usize)?;
            // Typedef, volatile, const, restrict, type tag.
            if !matches!(of.kind, TYPEDEF | 9 | 10 | 11 | 18) {
                return Some(id);
            }
            id = of.size_or_type;
        }
        None
    }

    /// The value of a name of an enumeration.
    pub fn constant(&self, enumeration: &str, name: &str) -> Option<u64> {
        let find = |kind: u8, width: usize| {
            let id = self.named.get(&(enumeration.as_bytes(), kind))?;
            let values = self.types.get(*id as usize)?.rest.chunks_exact(width);
            let mut named = values.filter(|value| {
                number(value, 0).and_then(|at| text(self.strings, at)) == Some(name.as_bytes())
            });
            named.next().and_then(|value| number(value, 4)).map(u64::from)
        };
        find(ENUM, 8).or_else(|| find(ENUM64, 12))
    }

    /// Which argument of a raw tracepoint is a pointer to that structure, counted from 0. Older
    /// kernels hand some tracepoints a queue before it.
    pub fn argument(&self, tracepoint: &str, structure: &str) -> Option<u32> {
        let wanted = *self.named.get(&(structure.as_bytes(), STRUCT))?;
        let points = |id: u32| {
            let pointer = self.types.get(self.plain(id)? as usize)?;
            (pointer.kind == PTR && self.plain(pointer.size_or_type)? == wanted).then_some(())
        };
        let mut parameters = self.parameters(tracepoint)?;
        parameters.position(|id| points(id).is_some()).map(|at| at as u32)
    }

    /// The types of a tracepoint's arguments, without the first, which is the tracer's own.
    fn parameters(&self, tracepoint: &str) -> Option<impl Iterator<Item = u32> + use<'_>> {
        let name = format!("btf_trace_{tracepoint}");
        let id = *self.named.get(&(name.as_bytes(), TYPEDEF))?;
        let pointer = self.types.get(self.plain(id)? as usize)?;
        let function = self.types.get(self.plain(pointer.size_or_type)? as usize)?;
        let function = (function.kind == FUNC_PROTO).then_some(function)?;
        Some(function.rest.chunks_exact(8).skip(1).filter_map(|parameter| number(parameter, 4)))
    }
}

/// Bytes that follow the description of a type.
fn extra(kind: u8, parts: u32) -> Option<usize> {
    let parts = parts as usize;
    Some(match kind {
        // Integers, variables, declaration tags.
        1 | 14 | 17 => 4,
        // Pointers, forwards, typedefs, qualifiers, functions, floats, type tags.
        2 | 7..=12 | 16 | 18 => 0,
        // Arrays.
        3 => 12,
        STRUCT | UNION | 15 | ENUM64 => parts * 12,
        ENUM | FUNC_PROTO => parts * 8,
        _ => return None,
    })
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn text(strings: &[u8], at: u32) -> Option<&[u8]> {
    strings.get(at as usize..)?.split(|byte| *byte == 0).next()
}
