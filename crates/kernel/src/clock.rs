//! The time, here and in universal time.

use aplomb_language::eval::host::Now;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn now() -> Now {
    let ms = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX / 2),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX / 2),
    };
    Now { ms, offset_ms: offset_seconds(ms.div_euclid(1_000)) * 1_000 }
}

/// The seconds that local time is ahead by, as the system's zone has it; 0 where it has none.
fn offset_seconds(at: i64) -> i64 {
    let mut parts = std::mem::MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both pointers are to live values of the right type; a null result means that `parts`
    // was not written, and then it is not read.
    unsafe {
        let done = libc::localtime_r(&at, parts.as_mut_ptr());
        if done.is_null() { 0 } else { parts.assume_init().tm_gmtoff }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn zones_are_less_than_a_day_away() {
        let now = super::now();
        assert!(now.ms > 1_700_000_000_000 && now.offset_ms.abs() < 86_400_000);
    }
}
