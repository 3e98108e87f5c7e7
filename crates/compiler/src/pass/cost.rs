//! The costs that every decision carries, as numbers.
//!
//! Nanoseconds are those of one f64 element in L1 on the reference CPU; the launch cost is an
//! estimate. A device's model is µs = max(bytes ÷ bandwidth, flops ÷ peak) + 5.

use aplomb_plans::occupancy;
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
    /// Bytes that move in a microsecond.
    pub bytes_per_us: f64,
    /// Scalar operations of f64 in a microsecond.
    pub flops_per_us: f64,
    /// Microseconds to start a launch.
    pub launch_us: f64,
}

/// The device of estimates where none is there.
pub const SM_90: Model = Model {
    arch: "sm_90",
    bytes_per_us: occupancy::BYTES_PER_US,
    flops_per_us: occupancy::FLOPS_PER_US,
    launch_us: 5.0,
};

impl Model {
    /// The microseconds of a launch that moves so many bytes and computes so many operations.
    pub fn us(&self, bytes: u64, flops: u64) -> f64 {
        (bytes as f64 / self.bytes_per_us).max(flops as f64 / self.flops_per_us) + self.launch_us
    }
}
