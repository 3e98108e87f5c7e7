//! Random numbers: the generator and what is made of its draws, in loops without a branch that a
//! device compiles for its instructions.
//!
//! The generator is counter-based: draw k of seed s is SplitMix64's finalizer of s + (k+1)·golden
//! ratio, so that any part of a stream can be made anywhere (Steele, Lea, Flood 2014): the k-th
//! number of a call hangs on the seed, the draws before the call and k alone.

use crate::array::DType;

/// Draw k of a seed.
#[inline(always)]
pub fn draw(seed: u64, k: u64) -> u64 {
    let mut z = seed.wrapping_add((k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number in (0,1) of a draw: the middle of one of 2*52 equal parts, exactly. The draw's highest
/// bits are those behind the point of a number from 1 on; half a part is added to what is over 1.
#[inline(always)]
pub fn unit(z: u64) -> f64 {
    f64::from_bits((z >> 12) | 1.0f64.to_bits()) - 1.0 + f64::EPSILON / 2.0
}

/// A number in 0 … n-1 of a draw.
#[inline(always)]
pub fn under(z: u64, n: u64) -> u64 {
    ((u128::from(z) * u128::from(n)) >> 64) as u64
}

/// The same for `n` of up to 32 bits, by products of 64 bits: the draw's halves times n, the lower
/// one shifted by what the upper is more. Neither their sum nor a product leaves 64 bits.
#[inline(always)]
fn under_short(z: u64, n: u64) -> u64 {
    let (high, low) = (z >> 32, z & u64::from(u32::MAX));
    (high * n + ((low * n) >> 32)) >> 32
}

/// The kind of the numbers of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Between 0 and 1.
    Unit,
    /// Whole numbers: so many, from the origin on.
    Whole {
        /// The number of them, up to 2*53.
        n: u64,
        /// The least.
        origin: u8,
    },
}

/// The numbers of a call.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// The seed.
    pub seed: u64,
    /// The number of its first draw.
    pub first: u64,
    /// The kind of its numbers.
    pub kind: Kind,
}

/// An element of storage that holds what is drawn.
pub trait Drawn: Copy {
    /// A whole number.
    fn whole(k: u64) -> Self;
    /// A number between 0 and 1, which only an f64 is.
    fn unit(x: f64) -> Self;
}

macro_rules! drawn {
    ($($type:ty)*) => {
        $(impl Drawn for $type {
            #[inline(always)]
            fn whole(k: u64) -> $type {
                k as $type
            }

            #[inline(always)]
            fn unit(x: f64) -> $type {
                x as $type
            }
        })*
    };
}
drawn!(u8 i8 i16 i32 u32 f32 f64);

impl Draws {
    /// The narrowest storage that holds all that may be drawn.
    pub fn dtype(&self) -> DType {
        match self.kind {
            Kind::Unit => DType::F64,
            Kind::Whole { n, origin } => {
                let origin = f64::from(origin);
                DType::holding(origin, origin + (n.max(1) - 1) as f64)
            }
        }
    }

    /// The number of the call at a place.
    pub fn at(&self, k: u64) -> f64 {
        let z = draw(self.seed, self.first + k);
        match self.kind {
            Kind::Unit => unit(z),
            Kind::Whole { n, origin } => under(z, n) as f64 + f64::from(origin),
        }
    }

    /// Those from a place on, in storage that holds them. A loop for each kind, always inlined into
    /// a caller that has the instructions.
    #[inline(always)]
    pub fn each<T: Drawn>(&self, from: u64, out: &mut [T]) {
        let z = |k: usize| draw(self.seed, self.first + from + k as u64);
        let places = out.iter_mut().enumerate();
        match self.kind {
            Kind::Unit => places.for_each(|(k, to)| *to = T::unit(unit(z(k)))),
            Kind::Whole { n, origin } if n >> 32 == 0 => {
                let origin = u64::from(origin);
                places.for_each(|(k, to)| *to = T::whole(under_short(z(k), n) + origin));
            }
            Kind::Whole { n, origin } => {
                let origin = u64::from(origin);
                places.for_each(|(k, to)| *to = T::whole(under(z(k), n) + origin));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_the_middle_of_a_part_of_two_to_the_52_and_short_products_are_long_ones() {
        for k in 0..20_000 {
            let z = draw(7, k);
            assert_eq!(unit(z), ((z >> 12) as f64 + 0.5) / 4_503_599_627_370_496.0);
            for n in [1, 2, 6, 1_000_003, u64::from(u32::MAX)] {
                assert_eq!(under_short(z, n), under(z, n));
            }
        }
        for z in [0, u64::MAX, u64::from(u32::MAX), !u64::from(u32::MAX)] {
            assert!(unit(z) > 0.0 && unit(z) < 1.0);
            assert_eq!(under_short(z, u64::from(u32::MAX)), under(z, u64::from(u32::MAX)));
        }
    }

    #[test]
    fn loops_give_what_stands_at_each_place() {
        for (n, origin) in [(1, 0), (2, 1), (100, 1), (40_000, 0), (1 << 40, 1)] {
            let draws = Draws { seed: 3, first: 11, kind: Kind::Whole { n, origin } };
            let mut out = [0f64; 77];
            draws.each(5, &mut out);
            assert!(out.iter().enumerate().all(|(k, x)| *x == draws.at(5 + k as u64)));
        }
        let draws = Draws { seed: 3, first: 11, kind: Kind::Unit };
        let mut out = [0f64; 77];
        draws.each(5, &mut out);
        assert!(out.iter().enumerate().all(|(k, x)| *x == draws.at(5 + k as u64)));
    }
}
