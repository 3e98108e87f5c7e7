//! cuBLAS: launches that are a plain product of f64 matrices are its, where it is there and thought
//! to be faster; those of f32 too under `--math fast`.
//!
//! Looked for when the first such launch comes, and opened when it runs. Always: pedantic math;
//! operands change places, for cuBLAS reads columns; the order of its sums is its own, as that of
//! any of our folds on a device. It tests nothing, so `kir::range` looks at both operands before:
//! where a product or a sum could overflow, our text runs. f32 is ours in strict math: its sums of
//! f32 are made in f64 on every device, and cuBLAS makes them in f32. Never: an error of its own.
//! What it refuses our text does.

use super::driver::{Driver, guarded};
use aplomb_ground::error::time;
use aplomb_plans::kir::LAUNCH_US;
use aplomb_plans::kir::{self, Fast};
use aplomb_plans::occupancy::{BYTES_PER_US, CACHE_PER_US, FLOPS_PER_US};
use aplomb_plans::plan::product::{Matrix, Product};
use aplomb_plans::plan::{Launch, Math, Plan};
use aplomb_values::array::DType;
use cudarc::cublas::result::{
    CublasError, create_handle, destroy_handle, dgemm, set_stream, sgemm,
};
use cudarc::cublas::sys::{
    self, cublasHandle_t, cublasMath_t, cublasOperation_t as Operation, cublasStatus_t as Status,
};
use std::ops::Range;

/// The parts of a tile's rate that are reached where × and + round apart, and where they are one
/// instruction (an estimate).
const APART: f64 = 0.5;
const ONCE: f64 = 0.65;
/// Smaller products are not worth a question.
const LEAST: f64 = (128u64 * 128 * 128) as f64;
/// The bytes of a sector of the second cache, for which each multiplication waits where a product
/// is not in tiles.
const SECTOR: f64 = 32.0;
/// Opening the library and making its handle (an estimate).
const OPEN_US: f64 = 300e3;

/// Whether a library of that name can be opened; what it needs beside it is another question.
pub fn is_there() -> bool {
    // SAFETY: opens and closes a library.
    guarded(|| unsafe { sys::is_culib_present() }) == Some(true)
}

enum Found {
    NotAsked,
    /// A library of that name is there.
    There,
    Yes(Handle),
    /// It is not, for this reason.
    No(String),
}

/// The library as far as it is known.
pub struct Blas {
    driver: Driver,
    found: Found,
    /// Set while an evaluation runs again without it: why.
    pub paused: Option<&'static str>,
}

/// The verdict on a launch that is a product: whether cuBLAS does it, and the sentence that says
/// why.
pub struct Choice {
    pub call: Option<Call>,
    pub says: String,
}

/// A product for cuBLAS, and what it is thought to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    pub product: Product,
    pub us: f64,
}

impl Call {
    /// As the trace has it.
    pub fn name(&self) -> &'static str {
        if self.product.dtype == DType::F32 { "cublasSgemm" } else { "cublasDgemm" }
    }

    /// The text that looks at the operands before.
    pub fn range(&self) -> &'static str {
        kir::range(self.product.dtype)
    }

    /// The distance of its results from those in strict math, where there is none like it.
    fn apart(&self) -> Option<Fast> {
        let sums = (self.product.dtype == DType::F32).then_some(self.product.deep)?;
        Some(Fast { sums: Some(sums), ..Fast::default() })
    }
}

/// Why our text does what a library should have done.
pub fn too_large(math: Math) -> &'static str {
    match math {
        Math::Strict => "items beyond 2*499 may overflow",
        Math::Fast => "items beyond 2*499, of f32 beyond 2*51, may overflow",
    }
}

impl Blas {
    pub fn new(driver: &Driver) -> Blas {
        Blas { driver: driver.clone(), found: Found::NotAsked, paused: None }
    }

    /// For people.
    pub fn says(&self) -> String {
        match &self.found {
            Found::Yes(handle) => {
                format!("{}, for products of f64, of f32 in fast math", handle.version)
            }
            Found::No(says) => says.clone(),
            Found::There => "there, not asked yet".into(),
            Found::NotAsked if is_there() => "there, not asked yet".into(),
            Found::NotAsked => NOWHERE.into(),
        }
    }

    /// None: the launch is no product, or a small one. `allowed`: no switch forbids it.
    pub fn choose(&mut self, plan: &Plan, launch: &Launch, allowed: bool) -> Option<Choice> {
        let product = Product::of(plan, launch).filter(|p| p.points() >= LEAST)?;
        let processors = f64::from(self.driver.facts().processors.max(1));
        let (ours, theirs) = (
            ours_us(&product, kir::tiles(plan, launch), processors, plan.math),
            theirs_us(&product),
        );
        let costs = format!("estimated {} by cuBLAS, {} by our text", time(theirs), time(ours));
        let against = match () {
            () if !allowed => Some("it is off".to_string()),
            () if product.dtype != DType::F64 && plan.math == Math::Strict => {
                Some("it adds f32 in f32, we in f64".into())
            }
            () if product.deep > kir::RANGE_DEEP || !fits(&product) => {
                Some("it is too long".into())
            }
            () if theirs >= ours => Some("it is no faster".into()),
            () => self.paused.map(String::from).or_else(|| self.missing()),
        };
        Some(match against {
            None => {
                let call = Call { product, us: theirs };
                let apart = call.apart().map_or(String::new(), |fast| format!("; {}", fast.says()));
                Choice { call: Some(call), says: format!("cuBLAS multiplies: {costs}{apart}") }
            }
            Some(why) => Choice {
                call: None,
                says: format!("our text, not cuBLAS, multiplies ({why}): {costs}"),
            },
        })
    }

    /// Why it cannot be asked, as far as that is known without opening it.
    fn missing(&mut self) -> Option<String> {
        if let Found::NotAsked = self.found {
            self.found = if is_there() { Found::There } else { Found::No(NOWHERE.into()) };
        }
        match &self.found {
            Found::No(says) => Some(says.clone()),
            _ => None,
        }
    }

    /// The time, µs, that opening it is thought to take still.
    pub fn open_us(&self) -> f64 {
        if matches!(self.found, Found::Yes(_)) { 0.0 } else { OPEN_US }
    }

    /// Some rows of a product, handed to the stream; the addresses are the buffers'. Errors: what
    /// it says; it is not asked again.
    pub fn multiply(&mut self, p: &Product, rows: Range<u64>, at: [u64; 3]) -> Result<(), String> {
        if !matches!(self.found, Found::Yes(_)) {
            self.found = Handle::open(&self.driver).map_or_else(Found::No, Found::Yes);
        }
        let says = match &self.found {
            Found::Yes(handle) => match guarded(|| handle.multiply(p, rows, at)) {
                Some(Ok(())) => return Ok(()),
                Some(Err(e)) => format!("it failed: {:?}", e.0),
                None => "it lacks a function".into(),
            },
            Found::No(says) => says.clone(),
            _ => NOWHERE.into(),
        };
        self.found = Found::No(says.clone());
        Err(says)
    }
}

const NOWHERE: &str = "it was not found";

/// Extents and strides are ints there.
fn fits(p: &Product) -> bool {
    let most = i32::MAX as u64;
    [p.rows, p.columns, p.deep, p.left.stride, p.right.stride].iter().all(|n| *n <= most)
}

/// Bytes of an item.
pub fn item(p: &Product) -> u64 {
    if p.dtype == DType::F32 { 4 } else { 8 }
}

/// Operations a µs; a device has twice as many of f32.
fn rate(dtype: DType) -> f64 {
    if dtype == DType::F32 { 2.0 * FLOPS_PER_US } else { FLOPS_PER_US }
}

fn moved_us(p: &Product) -> f64 {
    let (m, n, k) = (p.rows as f64, p.columns as f64, p.deep as f64);
    item(p) as f64 * (m * k + k * n + m * n) / BYTES_PER_US
}

/// Pedantic math promises no tensor cores. Before the call, a launch looks at both operands.
pub fn theirs_us(p: &Product) -> f64 {
    let operands = item(p) as f64 * (p.rows + p.columns) as f64 * p.deep as f64;
    (2.0 * p.points() / rate(p.dtype)).max(moved_us(p))
        + LAUNCH_US
        + operands / BYTES_PER_US
        + LAUNCH_US
}

/// In tiles, so many of so many results: as many at once as there are processors, of f32 in f64 but
/// in fast math. Else from the cache.
pub fn ours_us(p: &Product, tiles: Option<(u64, u64)>, processors: f64, math: Math) -> f64 {
    let rate = match math {
        Math::Strict => rate(DType::F64) * APART,
        Math::Fast => rate(p.dtype) * ONCE,
    };
    let work = match tiles {
        Some((tiles, results)) => {
            let one = 2.0 * results as f64 * p.deep as f64 / (rate / processors);
            (tiles as f64 / processors).ceil() * one
        }
        None => p.points() * SECTOR / CACHE_PER_US,
    };
    work.max(moved_us(p)) + LAUNCH_US
}

/// An open library, on the engine's stream.
struct Handle {
    at: cublasHandle_t,
    version: String,
    driver: Driver,
}

impl Handle {
    fn open(driver: &Driver) -> Result<Handle, String> {
        if !is_there() {
            return Err(NOWHERE.into());
        }
        let open = || -> Result<Handle, CublasError> {
            let at = create_handle()?;
            let mut handle = Handle { at, version: String::new(), driver: driver.clone() };
            let mut version = 0;
            // SAFETY: a handle that is ours until it is dropped, the stream of its context, an
            // integer to be filled.
            unsafe {
                set_stream(at, driver.stream().cast())?;
                sys::cublasSetMathMode(at, cublasMath_t::CUBLAS_PEDANTIC_MATH).result()?;
                sys::cublasGetVersion_v2(at, &mut version).result()?;
            }
            handle.version = format!("{}.{}", version / 10_000, version / 100 % 100);
            Ok(handle)
        };
        match guarded(open) {
            Some(Ok(handle)) => Ok(handle),
            Some(Err(CublasError(Status::CUBLAS_STATUS_ALLOC_FAILED))) => {
                Err("the GPU has no memory for it".into())
            }
            Some(Err(e)) => Err(format!("it does not start: {:?}", e.0)),
            None => Err("it is too old: it lacks a function".into()),
        }
    }

    /// Our rows are its columns: the result by columns is the product of the operands turned, the
    /// right one first.
    fn multiply(
        &self,
        p: &Product,
        rows: Range<u64>,
        [left, right, result]: [u64; 3],
    ) -> Result<(), CublasError> {
        let (first, rows) = (rows.start, rows.end - rows.start);
        let own =
            |m: &Matrix| if m.turned { Operation::CUBLAS_OP_T } else { Operation::CUBLAS_OP_N };
        let skip = if p.left.turned { first } else { first * p.left.stride };
        let at = |base: u64, items: u64| base + item(p) * items;
        let (right, left) = (at(right, p.right.first), at(left, p.left.first + skip));
        let result = at(result, first * p.columns);
        let (turned, extents) =
            ([own(&p.right), own(&p.left)], [p.columns as i32, rows as i32, p.deep as i32]);
        let (by, [m, n, k]) = ([p.right.stride as i32, p.left.stride as i32], extents);
        // SAFETY: the buffers are alive on this stream and of that type; `Product::of` says that
        // reads stay inside, `fits` that ints hold.
        macro_rules! gemm {
            ($call:ident, $of:ty) => {{
                let (one, zero, x, y) = (1.0, 0.0, right as *const $of, left as *const $of);
                unsafe {
                    $call(
                        self.at,
                        turned[0],
                        turned[1],
                        m,
                        n,
                        k,
                        &one,
                        x,
                        by[0],
                        y,
                        by[1],
                        &zero,
                        result as *mut $of,
                        m,
                    )
                }
            }};
        }
        match p.dtype {
            DType::F32 => gemm!(sgemm, f32),
            _ => gemm!(dgemm, f64),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.driver.is_lost() {
            // SAFETY: made in `open`, used by nobody after this.
            guarded(|| unsafe { destroy_handle(self.at) });
        }
    }
}

/// The arguments of `kir::range`: of each operand address, lines, items of each, how far apart; and
/// the error word.
pub fn range(p: &Product, [left, right]: [u64; 2], err: u64) -> Vec<u64> {
    let lines = |m: &Matrix, base: u64, (down, across): (u64, u64)| {
        let (lines, items) = if m.turned { (across, down) } else { (down, across) };
        // Lines that touch are one, which no item has to be divided for.
        let (lines, items) = if m.stride == items { (1, lines * items) } else { (lines, items) };
        [base + item(p) * m.first, lines, items, m.stride]
    };
    let (left, right) =
        (lines(&p.left, left, (p.rows, p.deep)), lines(&p.right, right, (p.deep, p.columns)));
    left.into_iter().chain(right).chain([err]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_plans::plan::BufId;

    fn product(rows: u64, columns: u64, deep: u64) -> Product {
        let matrix = |buf, stride| Matrix { buf: BufId(buf), first: 0, stride, turned: false };
        let (left, right) = (matrix(0, deep), matrix(1, columns));
        Product { left, right, result: BufId(2), rows, columns, deep, dtype: DType::F64 }
    }

    /// The items that the busiest of so many blocks looks at, as `kir::range` deals lines out.
    fn busiest(lines: u64, items: u64, blocks: u64) -> u64 {
        let parts = (blocks / lines).max(1);
        let own = lines.div_ceil(blocks / parts);
        own * items.div_ceil(parts * 256) * 256
    }

    /// Whatever operands are: lines that touch, which are one, lines cut out of longer ones, few
    /// that are long.
    #[test]
    fn no_block_looks_at_much_more_than_its_share() {
        assert!(
            kir::range(DType::F64).contains("u32 parts = m < gridDim.x ? gridDim.x / (u32)m : 1")
        );
        let blocks = 1056;
        for (rows, columns, deep) in [(4096, 4096, 4096), (128, 300, 1 << 20), (5000, 200, 129)] {
            for wider in [0, 7] {
                let mut p = product(rows, columns, deep);
                p.left.stride += wider;
                p.right.stride += wider;
                for operand in range(&p, [0, 0], 0)[..8].chunks(4) {
                    let [_, lines, items, _] = operand else { panic!("four words an operand") };
                    let share = lines * items / blocks;
                    assert!(busiest(*lines, *items, blocks) <= 2 * share + 512);
                }
            }
        }
    }

    #[test]
    fn large_products_are_faster_there_and_short_ones_in_tiles_are_not() {
        let p = product(128, 128, 128);
        assert!(theirs_us(&p) < ours_us(&p, None, 132.0, Math::Strict));
        let p = product(4096, 4096, 4096);
        assert!(theirs_us(&p) < ours_us(&p, Some((64 * 64, 64 * 64)), 132.0, Math::Strict));
        let single = Product { dtype: DType::F32, ..p };
        assert!(
            theirs_us(&single) < ours_us(&single, Some((32 * 32, 128 * 128)), 132.0, Math::Fast)
        );
        let p = product(512, 512, 32);
        assert!(theirs_us(&p) > ours_us(&p, Some((64, 64 * 64)), 132.0, Math::Strict));
    }

    #[test]
    fn lines_that_touch_are_looked_at_as_one() {
        let mut p = product(20, 30, 40);
        assert_eq!(range(&p, [800, 8000], 7), [800, 1, 800, 40, 8000, 1, 1200, 30, 7]);
        (p.left.turned, p.left.stride, p.left.first, p.right.stride) = (true, 25, 3, 33);
        assert_eq!(range(&p, [800, 8000], 7), [824, 40, 20, 25, 8000, 40, 30, 33, 7]);
    }
}
