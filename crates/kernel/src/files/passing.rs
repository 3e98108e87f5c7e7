//! A file that tells how much of it has passed, for whoever shows the way of a long one.

use aplomb_ground::limits::{Interrupt, Rounds};
use std::io::{Error, Read, Result, Seek, SeekFrom, Write};

/// A reader or a writer, and the way of its bytes.
pub struct Passing<F> {
    file: F,
    way: Rounds,
    at: u64,
    stop: Option<Interrupt>,
}

impl<F> Passing<F> {
    /// From the first byte on.
    pub fn new(file: F, way: Rounds) -> Passing<F> {
        Passing { file, way, at: 0, stop: None }
    }

    /// Fails where somebody asks to stop. Who writes looks at nothing else.
    pub fn stopped_by(self, stop: &Interrupt) -> Passing<F> {
        Passing { stop: Some(stop.clone()), ..self }
    }

    fn passed(&mut self, n: usize) -> usize {
        self.at += n as u64;
        self.way.done(self.at);
        n
    }
}

impl<F: Read> Read for Passing<F> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let n = self.file.read(into)?;
        Ok(self.passed(n))
    }
}

impl<F: Seek> Seek for Passing<F> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.at = self.file.seek(to)?;
        Ok(self.at)
    }
}

impl<F: Write> Write for Passing<F> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.stop.as_ref().is_some_and(Interrupt::is_set) {
            return Err(Error::other("interrupted"));
        }
        let n = self.file.write(bytes)?;
        Ok(self.passed(n))
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn bytes_that_pass_are_told_and_a_stop_is_heard() {
        let stop = Interrupt::default();
        let told = || stop.way().map(|way| (way.done, way.of, way.bytes));
        let mut from = Passing::new(Cursor::new(vec![7; 100]), stop.bytes(100));
        from.read_exact(&mut [0; 60]).expect("bytes");
        assert_eq!(told(), Some((60, 100, true)));
        from.seek(SeekFrom::Start(10)).expect("a place");
        from.read_exact(&mut [0; 5]).expect("bytes");
        assert_eq!(told(), Some((15, 100, true)));
        drop(from);
        let mut to = Passing::new(Vec::new(), stop.bytes(9)).stopped_by(&stop);
        to.write_all(&[1; 4]).expect("room");
        assert_eq!(told(), Some((4, 9, true)));
        stop.set();
        assert!(to.write_all(&[1; 4]).is_err());
    }
}
