//! Memory of the stream's pool, freed in the stream's order.

use super::driver::{Done, Driver, guarded};
use cudarc::driver::result;

/// Bytes on the device. Zero bytes have no address and need none.
pub struct DevBuf {
    at: u64,
    bytes: usize,
    driver: Driver,
}

impl DevBuf {
    /// Fresh memory, its contents unknown. Errors: `Memory` when there is not so much.
    pub fn fresh(driver: &Driver, bytes: usize) -> Done<DevBuf> {
        let at = match bytes {
            0 => 0,
            // SAFETY: the stream is alive; every use of the memory is on it.
            _ => driver.note(unsafe { result::malloc_async(driver.stream(), bytes) })?,
        };
        Ok(DevBuf { at, bytes, driver: driver.clone() })
    }

    /// Sets every byte.
    pub fn fill(&self, byte: u8) -> Done<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        // SAFETY: the whole buffer, on its stream.
        self.driver.note(unsafe {
            result::memset_d8_async(self.at, byte, self.bytes, self.driver.stream())
        })
    }

    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn driver(&self) -> &Driver {
        &self.driver
    }
}

impl Drop for DevBuf {
    fn drop(&mut self) {
        if self.at != 0 && !self.driver.is_lost() {
            // SAFETY: allocated on this stream, freed once.
            guarded(|| unsafe { result::free_async(self.at, self.driver.stream()) });
        }
    }
}
