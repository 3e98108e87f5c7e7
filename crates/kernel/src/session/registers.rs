//! The resources that printed kernels take of a device, told by NVRTC where that is installed; no
//! device need be there (BAS-24).

use aplomb_compiler::pass::{tell_occupancy, tell_registers};
use aplomb_devices::device::cuda;
use aplomb_ground::trace::{Cuda, LaunchRecord, Trace};
use aplomb_plans::kir;
use std::collections::HashMap;

/// More launches of one trace are not looked at: each compiles once, for some 30 ms.
const KERNELS: usize = 32;

/// Registers and spilled bytes of texts that were compiled before.
#[derive(Default)]
pub struct Registers {
    known: HashMap<(String, String), Option<(u32, u32)>>,
    /// Whether there is an NVRTC, once somebody looked.
    there: Option<bool>,
}

impl Registers {
    /// Fills what no GPU has told.
    pub fn fill(&mut self, trace: &mut Trace) {
        let arch = trace.config.arch.clone();
        let unknown = |k: &&mut LaunchRecord| k.regs.is_none();
        for kernel in trace.kernels.iter_mut().filter(unknown).take(KERNELS) {
            let told = kernel.cuda.as_ref().and_then(|text| self.of(text, &arch));
            if let Some(told) = told {
                (kernel.regs, kernel.spill) = (Some(told.0), Some(told.1));
            }
            tell_occupancy(kernel, &arch);
            if self.there == Some(true) {
                tell_registers(kernel, &arch, |text| self.of(text, &arch));
            }
        }
    }

    /// Registers and spilled bytes of the kernel that takes most.
    fn of(&mut self, text: &Cuda, arch: &str) -> Option<(u32, u32)> {
        let tries = || cuda::measured("extern \"C\" __global__ void none() {}", arch).is_ok();
        if !*self.there.get_or_insert_with(tries) {
            return None;
        }
        let program = kir::program(std::slice::from_ref(text));
        let key = (arch.to_string(), program);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        // Without NVRTC there are no figures.
        let all = cuda::measured(&key.1, arch).unwrap_or_default();
        // Of a launch's kernels, the most that one takes.
        let told = all
            .iter()
            .map(|(_, u)| (u.registers, u.spills))
            .reduce(|a, b| (a.0.max(b.0), a.1 + b.1));
        self.known.insert(key, told);
        told
    }
}
