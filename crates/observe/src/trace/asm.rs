//! An assembler for the kernel's BPF machine: only the instructions that the tracer needs.
//!
//! Registers r0 (results, clobbered by calls), r1 to r5 (arguments, clobbered by calls), r6 to r9
//! (kept) and r10 (the end of 512 bytes of stack).

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reg(pub u8);

pub const R0: Reg = Reg(0);
pub const R1: Reg = Reg(1);
pub const R2: Reg = Reg(2);
pub const R3: Reg = Reg(3);
pub const R4: Reg = Reg(4);
pub const R5: Reg = Reg(5);
pub const R6: Reg = Reg(6);
pub const R7: Reg = Reg(7);
pub const R8: Reg = Reg(8);
pub const R9: Reg = Reg(9);
pub const FP: Reg = Reg(10);

/// `struct bpf_insn` of `linux/bpf.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Insn {
    code: u8,
    /// Target in the lower half, source in the upper one.
    regs: u8,
    off: i16,
    imm: i32,
}

/// Width of a load or store, as the machine encodes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 1 byte.
    B = 0x10,
    /// 4 bytes.
    W = 0x00,
    /// 8 bytes.
    Dw = 0x18,
}

/// Operation on a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    Add = 0x00,
    Sub = 0x10,
    Mul = 0x20,
    Or = 0x40,
    And = 0x50,
    Shl = 0x60,
    Shr = 0x70,
    Neg = 0x80,
    Mod = 0x90,
    Mov = 0xb0,
}

/// When a jump is taken; comparisons are unsigned unless they say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum If {
    Eq = 0x10,
    Gt = 0x20,
    Ge = 0x30,
    /// Any of these bits is set.
    Set = 0x40,
    Ne = 0x50,
    Lt = 0xa0,
    SignedGe = 0x70,
}

/// Functions of the kernel, by their numbers in `linux/bpf.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    MapDelete = 3,
    KtimeNs = 5,
    PidTgid = 14,
    Comm = 16,
    ProbeReadKernel = 113,
}

/// A place to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

const LD_IMM64: u8 = 0x18;
const MAP_FD: u8 = 1;
const ALU64: u8 = 0x07;
const JMP: u8 = 0x05;
const BY_REG: u8 = 0x08;
const LDX_MEM: u8 = 0x61;
const ST_MEM: u8 = 0x62;
const STX_MEM: u8 = 0x63;
const STX_ATOMIC: u8 = 0xc3;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// A program being written.
#[derive(Debug, Default)]
pub struct Code {
    insns: Vec<Insn>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

impl Code {
    /// A place that is not known yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Binds a label to this place.
    pub fn here(&mut self, label: Label) {
        self.labels[label.0] = Some(self.insns.len());
    }

    fn push(&mut self, code: u8, dst: Reg, src: Reg, off: i16, imm: i32) {
        self.insns.push(Insn { code, regs: dst.0 | src.0 << 4, off, imm });
    }

    /// `dst = dst op imm`.
    pub fn alu(&mut self, op: Alu, dst: Reg, imm: i32) {
        self.push(ALU64 | op as u8, dst, R0, 0, imm);
    }

    /// `dst = dst op src`.
    pub fn alu_reg(&mut self, op: Alu, dst: Reg, src: Reg) {
        self.push(ALU64 | BY_REG | op as u8, dst, src, 0, 0);
    }

    /// `dst = src`.
    pub fn copy(&mut self, dst: Reg, src: Reg) {
        self.alu_reg(Alu::Mov, dst, src);
    }

    /// `dst = *(src + off)`.
    pub fn load(&mut self, width: Width, dst: Reg, src: Reg, off: i16) {
        self.push(LDX_MEM | width as u8, dst, src, off, 0);
    }

    /// `*(dst + off) = src`.
    pub fn store(&mut self, width: Width, dst: Reg, off: i16, src: Reg) {
        self.push(STX_MEM | width as u8, dst, src, off, 0);
    }

    /// `*(dst + off) = imm`.
    pub fn store_imm(&mut self, width: Width, dst: Reg, off: i16, imm: i32) {
        self.push(ST_MEM | width as u8, dst, R0, off, imm);
    }

    /// `*(dst + off) += src`, 8 bytes, whoever else does so at the same time.
    pub fn add_atomic(&mut self, dst: Reg, off: i16, src: Reg) {
        self.push(STX_ATOMIC | Width::Dw as u8, dst, src, off, 0);
    }

    /// `dst` is the map.
    pub fn map(&mut self, dst: Reg, fd: i32) {
        self.push(LD_IMM64, dst, Reg(MAP_FD), 0, fd);
        self.push(0, R0, R0, 0, 0);
    }

    /// A function of the kernel; arguments from r1 on, the result in r0.
    pub fn call(&mut self, helper: Helper) {
        self.push(CALL, R0, R0, 0, helper as i32);
    }

    /// On at another place.
    pub fn jump(&mut self, to: Label) {
        self.jumps.push((self.insns.len(), to));
        self.push(JMP, R0, R0, 0, 0);
    }

    /// There only if the register compares so.
    pub fn jump_if(&mut self, when: If, reg: Reg, imm: i32, to: Label) {
        self.jumps.push((self.insns.len(), to));
        self.push(JMP | when as u8, reg, R0, 0, imm);
    }

    /// There only if the two registers compare so.
    pub fn jump_if_reg(&mut self, when: If, a: Reg, b: Reg, to: Label) {
        self.jumps.push((self.insns.len(), to));
        self.push(JMP | BY_REG | when as u8, a, b, 0, 0);
    }

    /// The end, with r0 as the result.
    pub fn exit_with(&mut self) {
        self.push(EXIT, R0, R0, 0, 0);
    }

    /// The end, with 0 as the result.
    pub fn exit(&mut self) {
        self.alu(Alu::Mov, R0, 0);
        self.exit_with();
    }

    /// The program; every jump goes forward to a place that was given.
    pub fn finish(mut self) -> Vec<Insn> {
        for (at, label) in self.jumps {
            let to = self.labels[label.0].expect("every label is placed");
            let distance = to - at - 1;
            self.insns[at].off = i16::try_from(distance).expect("programs are short");
        }
        self.insns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(insns: &[Insn]) -> Vec<[u8; 8]> {
        let one = |insn: &Insn| {
            let mut bytes = [insn.code, insn.regs, 0, 0, 0, 0, 0, 0];
            bytes[2..4].copy_from_slice(&insn.off.to_le_bytes());
            bytes[4..8].copy_from_slice(&insn.imm.to_le_bytes());
            bytes
        };
        insns.iter().map(one).collect()
    }

    /// The encodings of the kernel's documentation (`Documentation/bpf/standardization`).
    #[test]
    fn instructions_are_encoded_as_the_kernel_reads_them() {
        let mut code = Code::default();
        let end = code.label();
        code.copy(R6, R1);
        code.load(Width::Dw, R1, R6, 8);
        code.alu(Alu::And, R1, 255);
        code.jump_if(If::Eq, R1, 3, end);
        code.store(Width::W, FP, -4, R1);
        code.add_atomic(R6, 16, R1);
        code.map(R1, 7);
        code.call(Helper::MapLookup);
        code.here(end);
        code.exit();
        assert_eq!(
            bytes(&code.finish()),
            [
                [0xbf, 0x16, 0, 0, 0, 0, 0, 0],
                [0x79, 0x61, 8, 0, 0, 0, 0, 0],
                [0x57, 0x01, 0, 0, 255, 0, 0, 0],
                [0x15, 0x01, 5, 0, 3, 0, 0, 0],
                [0x63, 0x1a, 0xfc, 0xff, 0, 0, 0, 0],
                [0xdb, 0x16, 16, 0, 0, 0, 0, 0],
                [0x18, 0x11, 0, 0, 7, 0, 0, 0],
                [0, 0, 0, 0, 0, 0, 0, 0],
                [0x85, 0, 0, 0, 1, 0, 0, 0],
                [0xb7, 0, 0, 0, 0, 0, 0, 0],
                [0x95, 0, 0, 0, 0, 0, 0, 0],
            ]
        );
    }
}
