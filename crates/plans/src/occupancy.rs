//! Occupancy: the part of a multiprocessor's threads that a kernel keeps busy; and the rates that
//! estimates take a device to have.
//!
//! Rows: BAS-01. By the published limits of each architecture, as NVIDIA's `cuda_occupancy.h` with
//! the largest carve-out counts: a block takes registers by warps, in groups, and shared memory by
//! the granule. Without a device and without NVRTC, registers are guessed from the values
//! that are alive at once.

/// The limits of a multiprocessor.
#[derive(Clone, Copy, Debug)]
pub struct Multiprocessor {
    /// The name that NVRTC takes.
    pub arch: &'static str,
    /// Most warps, and most blocks.
    pub warps: u32,
    /// Most blocks.
    pub blocks: u32,
    /// Bytes of shared memory.
    pub shared: u32,
    /// Bytes of it that each block loses.
    pub reserved: u32,
    /// Shared memory is taken by so many bytes.
    pub granule: u32,
    /// Registers.
    pub registers: u32,
    /// Those of a warp are taken by so many, and warps by groups of so many.
    pub grain: [u32; 2],
}

/// Bytes that memory moves in a microsecond. H200: 4.3 TB/s (NVIDIA's data sheet).
pub const BYTES_PER_US: f64 = 4.3e6;
/// Bytes that the second cache gives in a microsecond (an estimate).
pub const CACHE_PER_US: f64 = 5.5e6;
/// Scalar operations of f64 in a microsecond. H200: 34 Tflop/s (NVIDIA's data sheet).
pub const FLOPS_PER_US: f64 = 3.4e7;
/// Multiprocessors: of an H100 and an H200.
pub const PROCESSORS: u32 = 132;
/// Nanoseconds of a multiprocessor's cycle. H200: 1.98 GHz (NVIDIA's data sheet).
pub const CYCLE_NS: f64 = 0.505;

const KB: u32 = 1024;

/// The architectures that are known.
pub static ARCHITECTURES: &[Multiprocessor] = &[
    of("sm_70", 64, 32, 96 * KB, 0, 256),
    of("sm_75", 32, 16, 64 * KB, 0, 256),
    of("sm_80", 64, 32, 164 * KB, KB, 128),
    of("sm_86", 48, 16, 100 * KB, KB, 128),
    of("sm_89", 48, 24, 100 * KB, KB, 128),
    of("sm_90", 64, 32, 228 * KB, KB, 128),
];

const fn of(
    arch: &'static str,
    warps: u32,
    blocks: u32,
    shared: u32,
    reserved: u32,
    granule: u32,
) -> Multiprocessor {
    let (registers, grain) = (65_536, [256, 4]);
    Multiprocessor { arch, warps, blocks, shared, reserved, granule, registers, grain }
}

/// The multiprocessor of an architecture. None: it is not in the table.
pub fn find(arch: &str) -> Option<&'static Multiprocessor> {
    ARCHITECTURES.iter().find(|m| m.arch == arch)
}

impl Multiprocessor {
    /// The blocks of so many threads that are there at once, each thread with so many registers,
    /// each block with so many bytes of shared memory.
    pub fn resident(&self, threads: u32, registers: u32, shared: u32) -> u32 {
        let [warps, blocks, registers, shared] = self.bounds(threads, registers, shared);
        warps.min(blocks).min(registers).min(shared)
    }

    /// The blocks that would be there if warps, blocks, registers or shared memory alone bounded
    /// them: the least is what there is.
    pub fn bounds(&self, threads: u32, registers: u32, shared: u32) -> [u32; 4] {
        let warps = threads.div_ceil(32).max(1);
        let [grain, group] = self.grain;
        let each = grain * (32 * registers.max(1)).div_ceil(grain);
        let fits = group * warps.div_ceil(group) * each <= self.registers;
        let by_registers = if fits { group * (self.registers / group / each) / warps } else { 0 };
        let own = self.granule * (shared + self.reserved).div_ceil(self.granule);
        let by_shared = match self.shared.checked_div(own) {
            Some(blocks) => blocks,
            None => self.blocks,
        };
        [self.warps / warps, self.blocks, by_registers, by_shared]
    }

    /// The part of its threads that these blocks are, from 0 to 1.
    pub fn occupancy(&self, threads: u32, registers: u32, shared: u32) -> f64 {
        let busy = self.resident(threads, registers, shared) * threads.div_ceil(32);
        f64::from(busy) / f64::from(self.warps)
    }
}

/// Registers of a thread that holds so many values of f64 at once, and its addresses.
pub fn guessed(live: u32) -> u32 {
    (2 * live + 16).min(255)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bas_01_resident_blocks_are_those_of_the_published_calculator() {
        let rows: [((u32, u32, u32), [u32; 6]); 8] = [
            ((256, 32, 0), [8, 4, 8, 6, 6, 8]),
            ((256, 33, 0), [6, 4, 6, 6, 6, 6]),
            ((1024, 65, 0), [0; 6]),
            ((96, 20, 0), [21, 10, 21, 16, 16, 21]),
            ((256, 32, 16_384), [6, 4, 8, 5, 5, 8]),
            ((128, 32, 49_152), [2, 1, 3, 2, 2, 4]),
            ((256, 32, 20_000), [4, 3, 7, 4, 4, 8]),
            ((32, 16, 0), [32, 16, 32, 16, 24, 32]),
        ];
        for ((threads, registers, shared), wanted) in rows {
            let told: Vec<u32> =
                ARCHITECTURES.iter().map(|m| m.resident(threads, registers, shared)).collect();
            assert_eq!(told, wanted, "{threads} threads, {registers} registers, {shared} bytes");
        }
        // The paper's GeForce 8800, which takes what is asked for: ⌊R÷(p×r)⌋ ⌊ ⌊M÷m⌋ blocks, and 8
        // at most.
        let paper =
            Multiprocessor { registers: 8192, grain: [1, 1], ..of("sm_10", 24, 8, 16 * KB, 0, 1) };
        for ((threads, registers, shared), wanted) in [
            ((256, 13, 4 * KB), 2),
            ((512, 13, 8 * KB), 1),
            ((256, 16, 8 * KB), 2),
            ((256, 32, KB), 1),
            ((512, 17, KB), 0),
            ((192, 20, 3000), 2),
            ((64, 10, KB), 12),
        ] {
            let [_, _, by_registers, by_shared] = paper.bounds(threads, registers, shared);
            assert_eq!(by_registers.min(by_shared), wanted, "{threads} {registers} {shared}");
            assert_eq!(paper.resident(threads, registers, shared), wanted.min(8));
        }
        // What bounds them: warps, blocks, registers, shared memory.
        let hopper = find("sm_90").expect("a row");
        for (threads, registers, shared, wanted) in [
            (256, 32, 0, [8, 32, 8, 228]),
            (32, 16, 0, [64, 32, 128, 228]),
            (256, 64, 0, [8, 32, 4, 228]),
            (128, 32, 49_152, [16, 32, 16, 4]),
            (1024, 65, 0, [2, 32, 0, 228]),
        ] {
            assert_eq!(hopper.bounds(threads, registers, shared), wanted, "{threads} {registers}");
        }
    }

    #[test]
    fn a_full_multiprocessor_is_one() {
        let all = find("sm_90").expect("a row");
        assert_eq!(all.occupancy(256, 32, 0), 1.0);
        assert_eq!(all.occupancy(1024, 65, 0), 0.0);
        assert!(find("sm_13").is_none());
    }
}
