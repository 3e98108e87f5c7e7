//! A defect in the middle of a statement: whatever the evaluator asks of the world may panic, and
//! the next line finds everything as it was before the one that ended.

use super::with_stack;
use crate::eval::Interp;
use crate::eval::host::{Answer, Arrays, Errand, Format, Host, Now, Page};
use crate::testing;
use aplomb_ground::chart::Chart;
use aplomb_ground::error::Result;
use aplomb_ground::limits::{Budget, Interrupt, Limits};
use aplomb_ground::span::{Place, Source};
use aplomb_values::array::format::Style;
use aplomb_values::array::{Array, DType};
use aplomb_values::dag::Recorded;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::Src;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

const PLANTED: &str = "planted";

/// The n-th question to the world panics; 0: none does.
struct Faulty {
    inner: testing::Host,
    left: Cell<u32>,
}

impl Faulty {
    fn step(&self) {
        let left = self.left.replace(self.left.get().saturating_sub(1));
        assert!(left != 1, "{PLANTED}");
    }
}

impl Host for Faulty {
    fn force(&mut self, recorded: Recorded) -> Result<Vec<Array>> {
        self.step();
        self.inner.force(recorded)
    }
    fn apply(&self, op: (Op, DType), ct: f64, x: Src, y: Src, out: &mut [f64]) -> bool {
        self.step();
        self.inner.apply(op, ct, x, y, out)
    }
    fn is_on(&self, switch: &str) -> bool {
        self.step();
        self.inner.is_on(switch)
    }
    fn limits(&self) -> &Limits {
        self.step();
        self.inner.limits()
    }
    fn budget(&self) -> &Budget {
        self.step();
        self.inner.budget()
    }
    fn interrupt(&self) -> &Interrupt {
        self.step();
        self.inner.interrupt()
    }
    fn read_file(&mut self, path: &str) -> Result<Vec<u8>> {
        self.step();
        self.inner.read_file(path)
    }
    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.step();
        self.inner.write_file(path, bytes)
    }
    fn append_file(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.step();
        self.inner.append_file(path, bytes)
    }
    fn read_arrays(&mut self, format: Format, path: &str) -> Result<Arrays> {
        self.inner.read_arrays(format, path)
    }
    fn write_arrays(
        &mut self,
        format: Format,
        path: &str,
        arrays: &Arrays,
        how: Option<&str>,
    ) -> Result<()> {
        self.inner.write_arrays(format, path, arrays, how)
    }
    fn read_picture(&mut self, path: &str) -> Result<Array> {
        self.inner.read_picture(path)
    }
    fn write_picture(&mut self, path: &str, array: &Array) -> Result<()> {
        self.inner.write_picture(path, array)
    }
    fn exists(&mut self, path: &str) -> bool {
        self.inner.exists(path)
    }
    fn delete(&mut self, path: &str) -> Result<()> {
        self.inner.delete(path)
    }
    fn errand(&mut self, errand: &Errand) -> Result<Answer> {
        self.step();
        self.inner.errand(errand)
    }
    fn now(&mut self) -> Now {
        self.inner.now()
    }
    fn spent(&mut self) -> (f64, f64) {
        self.inner.spent()
    }
    fn sleep(&mut self, seconds: f64) -> Result<f64> {
        self.inner.sleep(seconds)
    }
    fn read_line(&mut self, prompt: &str) -> Option<String> {
        self.step();
        self.inner.read_line(prompt)
    }
    fn statement(&mut self, place: &Place, written: u64) {
        self.inner.statement(place, written)
    }
    fn show(&mut self, value: &Array, text: &str, style: &Style) {
        self.step();
        self.inner.show(value, text, style)
    }
    fn display(&mut self, page: &Page) -> Result<()> {
        self.step();
        self.inner.display(page)
    }
    fn plot(&mut self, chart: &Chart, columns: usize, file: Option<&str>) -> Result<String> {
        self.step();
        self.inner.plot(chart, columns, file)
    }
    fn output(&mut self, text: &str) {
        self.step();
        self.inner.output(text)
    }
    fn prompt(&mut self, text: &str) {
        self.step();
        self.inner.prompt(text)
    }
    fn entropy(&mut self) -> u64 {
        self.inner.entropy()
    }
}

/// Statements that change names, system variables and modes before they are through.
const LINES: &[&str] = &[
    "{k←⍵ ⋄ a+k}¨⍳20⊣a←99",
    "{k←⍵ ⋄ k>10:k+a ⋄ k-a}¨⍳20⊣a←99",
    "{⎕IO←1 ⋄ 0::⍵ ⋄ +/⍳⍵}¨⍳3⊣a[1]←99⊣⎕IO←0",
    "{⍵×2}⍣20⊢⍳20⊣a←99",
    "{0::0 ⋄ {0::÷0 ⋄ ⍵=0:÷0 ⋄ ∇⍵-1}⍵}3⊣a←99",
    "+/÷(⍳2000)+¯1⊣a[1]←99",
    "⎕←+/⍟(⍳2000)⊣a←'x'",
    "({⍺+2×⍵}/⍳30)({⍺ ⍵}∘.+⍳3)⊣a←99",
    "-{⍺⍺ ⍵⊣⍎'b←99'}3⊣f←-⊣a←99",
];

/// Lines in which the workspace speaks of itself; one of them would fail in a mode that was left
/// behind.
const AFTER: &str = "a ⋄ ⎕IO ⋄ ⎕←5 ⋄ (?6)∊⍳6 ⋄ {0::'no' ⋄ 'yes'}0 ⋄ +/{⍵+1}¨⍳20 ⋄ {⍵=0:'end' ⋄ \
∇⍵-1}3 ⋄ ⎕NC 2 1⍴'fb'";

fn execute(interp: &mut Interp, host: &mut Faulty, text: &str) -> Result<()> {
    interp.execute(&Source::new("test", text), host)
}

#[test]
fn a_panic_anywhere_in_a_statement_leaves_no_trace() {
    with_stack(|| {
        // Other tests may fail meanwhile, and be heard.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload_as_str() != Some(PLANTED) {
                hook(info);
            }
        }));
        let mut planted = 0;
        for all in [false, true] {
            for line in LINES {
                for n in 1.. {
                    let (mut interp, inner) = (Interp::new(), testing::Host::default());
                    let mut host = Faulty { inner, left: Cell::new(0) };
                    interp.set_record_all(all);
                    execute(&mut interp, &mut host, "a←5 6").unwrap();
                    host.left.set(n);
                    let done =
                        catch_unwind(AssertUnwindSafe(|| execute(&mut interp, &mut host, line)));
                    if done.is_ok() {
                        break;
                    }
                    planted += 1;
                    host.left.set(0);
                    host.inner.printed.clear();
                    execute(&mut interp, &mut host, AFTER)
                        .unwrap_or_else(|e| panic!("{line}, {n}: {e:?}"));
                    assert_eq!(
                        host.inner.printed, "5 6\n1\n5\n1\nyes\n230\nend\n0 0\n",
                        "{line}, {n}"
                    );
                }
            }
        }
        assert!(planted > 200, "{planted}");
    });
}
