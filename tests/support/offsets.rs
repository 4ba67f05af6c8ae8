//! Where IOR's bytes go, and what they are, by formulas that share no code with candor.

/// A shape of IOR's file: ranks, segments, bytes of a block and of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of ranks.
    pub ranks: u64,
    /// Number of segments.
    pub segments: u64,
    /// Bytes of a block.
    pub block: u64,
    /// Bytes of a transfer.
    pub transfer: u64,
}

/// A transfer: who wrote it, and where it begins in its file.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Who wrote it.
    pub rank: u64,
    /// Begin of it in its file.
    pub offset: u64,
}

impl Shape {
    /// Transfers of a shared file: `offset = s·n·b + rank·b + j·t`.
    pub fn shared(self) -> Vec<Transfer> {
        let mut all = Vec::new();
        for segment in 0..self.segments {
            for rank in 0..self.ranks {
                let block = segment * self.ranks * self.block + rank * self.block;
                let offsets = (0..self.block / self.transfer).map(|j| block + j * self.transfer);
                all.extend(offsets.map(|offset| Transfer { rank, offset }));
            }
        }
        all
    }

    /// Transfers of the file of a rank: `offset = s·b + j·t`.
    pub fn own(self, rank: u64) -> Vec<Transfer> {
        let count = self.segments * self.block / self.transfer;
        (0..count).map(|nth| Transfer { rank, offset: nth * self.transfer }).collect()
    }

    /// Options of IOR with this shape.
    pub fn words(self) -> String {
        let Shape { segments, block, transfer, .. } = self;
        format!("-s {segments} -b {block} -t {transfer}")
    }
}

/// The data of a transfer by packet type and signature, as the tool's sources make it.
fn data(packet: char, signature: u64, transfer: Transfer, bytes: u64) -> Vec<u8> {
    let rank = transfer.rank << 32;
    let mut state = {
        let mut seed = (signature + transfer.rank + transfer.offset) as u32;
        u64::from(rand_r(&mut seed))
    };
    let same = {
        let mut seed = (signature + transfer.rank) as u32;
        let high = u64::from(rand_r(&mut seed)) << 32;
        high | u64::from(rand_r(&mut seed))
    };
    let mut word = |nth: u64| {
        let is_page = nth.is_multiple_of(512);
        match packet {
            't' => rank | (signature + nth),
            'r' => {
                state = state.wrapping_mul(0x9e37_ffff_fffc_0001) >> 3;
                state
            }
            _ if is_page => {
                let page = (nth / 512 + 1) as u32;
                rank | u64::from((transfer.offset as u32).wrapping_mul(page))
            }
            'i' => same,
            _ => rank | (signature + nth),
        }
    };
    (0..bytes / 8).flat_map(|nth| word(nth).to_le_bytes()).collect()
}

/// The C library's `rand_r`.
fn rand_r(seed: &mut u32) -> u32 {
    let mut step = || {
        *seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345);
        *seed / 65536
    };
    let first = (step() % 2048) << 10;
    let second = (first ^ (step() % 1024)) << 10;
    second ^ (step() % 1024)
}

/// Compares a file with the transfers that must be in it, and nothing else.
pub fn compare(bytes: &[u8], shape: Shape, transfers: &[Transfer], packet: char, signature: u64) {
    assert_eq!(bytes.len() as u64, transfers.len() as u64 * shape.transfer, "{shape:?}");
    for transfer in transfers {
        let from = transfer.offset as usize;
        let found = &bytes[from..from + shape.transfer as usize];
        let expected = data(packet, signature, *transfer, shape.transfer);
        let odd = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        assert_eq!(odd, None, "{shape:?} -l {packet}: {transfer:?}: first other byte");
    }
}
