//! Results that stay on the device until somebody on the host looks at them.
//!
//! What goes from one evaluation to the next need not travel. The host's memory for it is taken at
//! once, so looking is never WS FULL; where the device cannot give it any more, the plan runs again
//! on the CPU. For that its inputs are held, and what these were made of: `Weight` bounds the
//! chain. Always: whoever looks sees the value. A session is one thread, and its values are looked
//! at there before other threads read them.

use super::buffer::DevBuf;
use super::driver::{Trouble, guarded};
use super::transfer::Transfers;
use crate::device::cpu::Cpu;
use crate::device::{Device, RunCtx};
use crate::pool::{PoolBuffer, lock};
use aplomb_ground::limits::{Budget, Interrupt};
use aplomb_plans::plan::Plan;
use aplomb_values::array::{Array, DType, Data, Storage, View};
use send_wrapper::SendWrapper;
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock};

/// The bytes from which on a result stays: smaller ones come home at once, with the words of their
/// launches.
pub const LEAST: u64 = 16 << 10;
/// Evaluations that one recalled value may have to repeat.
const DEEPEST: u32 = 16;

/// The weight of what recalling a value keeps alive.
#[derive(Clone, Copy)]
pub struct Weight {
    /// Of the values that are there for its sake alone, its own included.
    bytes: u64,
    /// Evaluations since a value that is at home.
    depth: u32,
}

impl Weight {
    /// Of a result of so many bytes made of `inputs`.
    pub fn new(bytes: u64, inputs: &[Array]) -> Weight {
        inputs.iter().fold(Weight { bytes, depth: 0 }, |sum, input| match input.data() {
            Data::Dense(b) => {
                let own = Weight { bytes: (b.len() * b.dtype().size()) as u64, depth: 0 };
                let of =
                    Away::of(b).map_or(own, |a| Weight { depth: a.weight.depth + 1, ..a.weight });
                Weight { bytes: sum.bytes.saturating_add(of.bytes), depth: sum.depth.max(of.depth) }
            }
            _ => sum,
        })
    }

    /// Whether it may be kept while so many bytes are free.
    pub fn fits(self, free: u64) -> bool {
        self.depth < DEEPEST && self.bytes <= free / 4
    }
}

/// The plan and inputs by which a value can be computed again.
pub struct Recipe {
    pub plan: Rc<Plan>,
    pub inputs: Vec<Array>,
    /// The number of the plan's root.
    pub root: usize,
    pub threads: usize,
}

/// The means by which a value comes home.
pub struct Recall {
    pub to: PoolBuffer,
    pub copy: Rc<DevBuf>,
    pub transfers: Rc<RefCell<Transfers>>,
    pub recipe: Recipe,
}

pub struct Away {
    dtype: DType,
    len: usize,
    weight: Weight,
    home: OnceLock<Arc<dyn Storage>>,
    recall: Mutex<Option<SendWrapper<Recall>>>,
}

impl Away {
    pub fn new(recall: Recall, weight: Weight) -> Away {
        let (dtype, len) = (recall.to.dtype(), recall.to.len());
        let recall = Mutex::new(Some(SendWrapper::new(recall)));
        Away { dtype, len, weight, home: OnceLock::new(), recall }
    }

    /// None: the host has it.
    pub fn of(storage: &Arc<dyn Storage>) -> Option<&Away> {
        storage.as_any().downcast_ref().filter(|away: &&Away| away.home.get().is_none())
    }

    fn fetch(&self) -> Arc<dyn Storage> {
        let recall = lock(&self.recall).take();
        let Some(recall) = recall else { unreachable!("a value is neither here nor there") };
        recall.take().home()
    }
}

impl Recall {
    fn home(mut self) -> Arc<dyn Storage> {
        let fetched = guarded(|| {
            self.copy.driver().enter()?;
            self.transfers.borrow_mut().bring(&self.copy, &mut self.to, &Interrupt::default())
        });
        let says = match fetched {
            Some(Ok(())) => return Arc::new(self.to),
            Some(Err(Trouble::Lost(name))) => format!("it is lost: {name}"),
            Some(Err(Trouble::Refused(says))) => says,
            Some(Err(Trouble::Memory | Trouble::Interrupted)) | None => {
                "the driver has no memory for it".into()
            }
        };
        self.transfers
            .borrow_mut()
            .notices
            .push(format!("the GPU did not give a value back, the CPU computed it again: {says}"));
        self.recipe.again()
    }
}

impl Recipe {
    /// The value by the CPU. It fitted before, and failed nowhere.
    fn again(&self) -> Arc<dyn Storage> {
        let (interrupt, budget) = (Interrupt::default(), Budget::new(u64::MAX));
        let ctx = RunCtx {
            interrupt: &interrupt,
            budget: &budget,
            timed: false,
            libraries: true,
            abreast: true,
        };
        let values = Cpu::new(self.threads).run(&self.plan, &self.inputs, &ctx);
        match values.as_ref().map(|all| all.get(self.root).map(Array::data)) {
            Ok(Some(Data::Dense(b))) => b.clone(),
            other => {
                unreachable!("a value that was there cannot be computed again: {:?}", other.err())
            }
        }
    }
}

impl Storage for Away {
    fn view(&self) -> View<'_> {
        self.home.get_or_init(|| self.fetch()).view()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn dtype(&self) -> DType {
        self.dtype
    }

    fn len(&self) -> usize {
        self.len
    }

    fn can_be_cut(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_values::array::Buf;

    #[test]
    fn what_holds_much_or_many_comes_home() {
        let input = Buf::f64(vec![0.5; 1000], &Budget::new(1 << 20))
            .map(|b| Array::dense(vec![1000], Arc::new(b)));
        let weight = Weight::new(8_000, &[input.expect("memory"), Array::num(3.0)]);
        assert!(weight.fits(64_000) && !weight.fits(63_999));
        assert!(!Weight { depth: DEEPEST, ..weight }.fits(u64::MAX));
    }
}
