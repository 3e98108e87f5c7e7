//! A fast hash for tables that live as long as a pass: of our own numbers, which nobody can choose
//! to collide.

use std::hash::{BuildHasherDefault, Hasher};

pub type Map<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Mix>>;
pub type Set<K> = std::collections::HashSet<K, BuildHasherDefault<Mix>>;

/// Each word is xored in and multiplied by an odd number (2^64 ÷ the golden ratio); the high bits
/// come down at the end.
#[derive(Default)]
pub struct Mix(u64);

impl Mix {
    fn word(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(5) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, x: u8) {
        self.word(u64::from(x));
    }

    fn write_u32(&mut self, x: u32) {
        self.word(u64::from(x));
    }

    fn write_u64(&mut self, x: u64) {
        self.word(x);
    }

    fn write_i64(&mut self, x: i64) {
        self.word(x as u64);
    }

    fn write_usize(&mut self, x: usize) {
        self.word(x as u64);
    }

    fn write_isize(&mut self, x: isize) {
        self.word(x as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}
