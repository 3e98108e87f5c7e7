//! The world of tests: evaluations go to the oracle, files are kept in memory, time stands still.

use crate::eval::host::{self, Answer, Arrays, Errand, Facts, Format, Now, Page};
use aplomb_ground::chart::Chart;
use aplomb_ground::error::{Error, Kind, Result, count};
use aplomb_ground::limits::{Budget, Interrupt, Limits};
use aplomb_ground::span::Place;
use aplomb_values::array::format::Style;
use aplomb_values::array::{Array, DType};
use aplomb_values::dag::Recorded;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::{self, Src};
use aplomb_values::reference::{error_of, evaluate};
use std::collections::{BTreeMap, VecDeque};

/// A session without devices, for tests of the language alone: files are kept in memory, time
/// stands still.
pub struct Host {
    /// The bounds of the session.
    pub limits: Limits,
    /// The memory that arrays may take.
    pub budget: Budget,
    /// The request to stop.
    pub interrupt: Interrupt,
    /// All that was printed.
    pub printed: String,
    /// The number of evaluations that were forced.
    pub forces: usize,
    /// The files, by name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Lines that will be typed.
    pub typed: VecDeque<String>,
    /// Milliseconds since 1970.
    pub clock: i64,
}

impl Default for Host {
    fn default() -> Self {
        Host {
            limits: Limits::default(),
            budget: Budget::new(1 << 32),
            interrupt: Interrupt::default(),
            printed: String::new(),
            forces: 0,
            files: BTreeMap::new(),
            typed: VecDeque::new(),
            clock: 1_785_000_000_000,
        }
    }
}

impl host::Host for Host {
    fn force(&mut self, recorded: Recorded) -> Result<Vec<Array>> {
        self.forces += 1;
        let wanted: u64 = recorded.dag.ids().map(|at| recorded.dag.elements(at)).sum();
        self.budget.charge_elements(wanted as usize, 8)?;
        evaluate(&recorded, &self.budget)?
            .map_err(|f| error_of(&f, &recorded.dag, recorded.needed.as_ref()))
    }

    fn apply(&self, (op, dtype): (Op, DType), ct: f64, x: Src, y: Src, out: &mut [f64]) -> bool {
        let item = |s: Src, i: usize| match s {
            Src::One(x) => x,
            Src::Many(v) => v[i],
        };
        for (i, o) in out.iter_mut().enumerate() {
            match scalar::eval_as(dtype, op, ct, item(x, i), item(y, i)) {
                Ok(v) => *o = v,
                Err(_) => return false,
            }
        }
        true
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    fn read_file(&mut self, path: &str) -> Result<Vec<u8>> {
        self.files.get(path).cloned().ok_or_else(|| no_file(path))
    }

    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.files.insert(path.into(), bytes.to_vec());
        Ok(())
    }

    fn append_file(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.files.entry(path.into()).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn read_arrays(&mut self, _format: Format, path: &str) -> Result<Arrays> {
        Err(no_file(path))
    }

    fn write_arrays(
        &mut self,
        _format: Format,
        path: &str,
        _arrays: &Arrays,
        _how: Option<&str>,
    ) -> Result<()> {
        Err(no_file(path))
    }

    fn read_picture(&mut self, path: &str) -> Result<Array> {
        Err(no_file(path))
    }

    fn write_picture(&mut self, path: &str, _array: &Array) -> Result<()> {
        Err(no_file(path))
    }

    fn exists(&mut self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    fn delete(&mut self, path: &str) -> Result<()> {
        self.files.remove(path).map(|_| ()).ok_or_else(|| no_file(path))
    }

    /// Folders are the beginnings of files' names; nothing is run.
    fn errand(&mut self, errand: &Errand) -> Result<Answer> {
        Ok(match errand {
            Errand::Facts(path) => match self.files.get(path) {
                Some(bytes) => {
                    let size = bytes.len() as u64;
                    Answer::Facts(Facts { kind: 2, size, changed: self.clock, is_link: false })
                }
                None => return Err(no_file(path)),
            },
            Errand::List(folder) => {
                let inside = |name: &String| name.strip_prefix(folder.as_str()).map(String::from);
                Answer::Names(self.files.keys().filter_map(inside).collect())
            }
            Errand::Absolute(path) => Answer::Text(format!("/{path}")),
            Errand::Environment(name) if name == "HOME" => Answer::Text("/home".into()),
            Errand::Environment(_) => Answer::Nothing,
            Errand::Move(from, to) | Errand::Copy(from, to) => {
                let bytes = self.read_file(from)?;
                self.write_file(to, &bytes)?;
                if matches!(errand, Errand::Move(..)) {
                    self.files.remove(from);
                }
                Answer::Done
            }
            Errand::DeleteAll(path) => {
                self.delete(path)?;
                Answer::Done
            }
            Errand::MakeFolder(_) => Answer::Done,
            Errand::Part(path, at, n) => {
                let bytes = self.read_file(path)?;
                let part = bytes.into_iter().skip(*at as usize).take(*n as usize);
                Answer::Bytes(part.collect())
            }
            Errand::Patch(path, at, new) => {
                let mut bytes = self.read_file(path)?;
                let end = *at as usize + new.len();
                bytes.extend(std::iter::repeat_n(0, end.saturating_sub(bytes.len())));
                bytes[*at as usize..end].copy_from_slice(new);
                self.write_file(path, &bytes)?;
                Answer::Done
            }
            Errand::Resize(path, n) => {
                let mut bytes = self.read_file(path)?;
                bytes.truncate(*n as usize);
                bytes.extend(std::iter::repeat_n(0, *n as usize - bytes.len()));
                self.write_file(path, &bytes)?;
                Answer::Done
            }
            Errand::Run(_) => return Err(aplomb_ground::error::domain("nothing is run here")),
        })
    }

    fn now(&mut self) -> Now {
        Now { ms: self.clock, offset_ms: 0 }
    }

    fn spent(&mut self) -> (f64, f64) {
        (0.0, 0.0)
    }

    fn sleep(&mut self, seconds: f64) -> Result<f64> {
        self.clock += (seconds * 1e3) as i64;
        Ok(seconds)
    }

    fn read_line(&mut self, _prompt: &str) -> Option<String> {
        self.typed.pop_front()
    }

    fn statement(&mut self, _place: &Place, _written: u64) {}

    fn show(&mut self, _value: &Array, text: &str, _style: &Style) {
        self.printed.push_str(text);
    }

    fn display(&mut self, page: &Page) -> Result<()> {
        for (kind, data) in &page.forms {
            let says = count(data.len(), "byte");
            self.printed.push_str(&format!("({kind}, {says}: a page shows it)\n"));
        }
        Ok(())
    }

    /// The series of a chart in words: the host of tests draws nothing.
    fn plot(&mut self, chart: &Chart, _: usize, _file: Option<&str>) -> Result<String> {
        Ok(format!("{:?}", chart.series))
    }

    fn output(&mut self, text: &str) {
        self.printed.push_str(text);
    }

    fn prompt(&mut self, text: &str) {
        self.output(text);
    }

    fn entropy(&mut self) -> u64 {
        42
    }
}

fn no_file(path: &str) -> Error {
    Error::new(Kind::FileName, format!("there is no file {path}"))
}
