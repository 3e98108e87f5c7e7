//! The costs that every decision carries, as numbers.
//!
//! Nanoseconds are those of one f64 element in L1 on the reference CPU; the launch cost is an
//! estimate. What a launch takes of a GPU follows from its form (`aplomb_plans::kir::figures`).

pub use aplomb_plans::plan::effort::LAUNCH_NS;
pub use aplomb_values::body::{READ_NS, WRITE_NS};

/// The cost of one way to compute something.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Scalar operations.
    pub flops: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Nanoseconds on one CPU core.
    pub ns: f64,
}

impl Cost {
    /// `points` evaluations of something that costs `ns` and reads `reads` buffers of `size` bytes.
    pub fn compute(points: u64, ns: f64, flops: u64, reads: u64, size: u64) -> Cost {
        Cost {
            flops: points.saturating_mul(flops),
            bytes: points.saturating_mul(reads.saturating_mul(size)),
            ns: points as f64 * (ns + READ_NS * reads as f64),
        }
    }

    /// The sum of two costs.
    pub fn plus(self, o: Cost) -> Cost {
        Cost {
            flops: self.flops.saturating_add(o.flops),
            bytes: self.bytes.saturating_add(o.bytes),
            ns: self.ns + o.ns,
        }
    }

    /// The same with so many bytes from memory and to it: what a launch reads of an array counts
    /// once, however often it asks.
    pub fn moving(self, bytes: u64) -> Cost {
        Cost { bytes, ..self }
    }

    /// Writing `elements` and reading them back `reads` times in all, in a launch of its own.
    pub fn store(elements: u64, reads: u64, size: u64) -> Cost {
        Cost {
            flops: 0,
            bytes: elements.saturating_add(reads).saturating_mul(size),
            ns: LAUNCH_NS + elements as f64 * WRITE_NS + reads as f64 * READ_NS,
        }
    }
}

/// A device as the estimates see it.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// The architecture, as NVRTC calls it.
    pub arch: &'static str,
}

/// The device of estimates where none is there.
pub const SM_90: Model = Model { arch: "sm_90" };
