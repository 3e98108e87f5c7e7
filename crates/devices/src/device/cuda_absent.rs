//! The stand-in for the CUDA device in a program that was built without it.

use super::cpu::Cpu;
use super::{Compiling, DeviceError, LaunchStats, RunCtx, Trial, Tune};
use aplomb_ground::limits::Interrupt;
use aplomb_plans::kir::Tuning;
use aplomb_plans::micro::{Amount, Point};
use aplomb_plans::plan::Plan;
use aplomb_values::array::Array;
use std::rc::Rc;

/// There is none.
pub enum Cuda {}

pub const ASK_US: f64 = f64::INFINITY;

const ABSENT: &str = "this program was built without CUDA";

pub fn ptx(_text: &str, _arch: &str) -> Result<String, String> {
    Err(ABSENT.into())
}

/// The resources that one kernel takes.
pub struct Usage {
    pub registers: u32,
    pub spills: u32,
}

pub fn measured(_text: &str, _arch: &str) -> Result<Vec<(String, Usage)>, String> {
    Err(ABSENT.into())
}

impl Cuda {
    pub fn find(_again: bool) -> Result<Cuda, String> {
        Err(ABSENT.into())
    }

    pub fn microbench(
        &mut self,
        _points: &[Point],
        _amount: Amount,
        _interrupt: &Interrupt,
    ) -> Result<Option<Vec<f64>>, String> {
        match *self {}
    }

    pub fn facts(&self) -> Vec<(String, String)> {
        match *self {}
    }

    pub fn name(&self) -> String {
        match *self {}
    }

    pub fn compiling(&self) -> Compiling {
        match *self {}
    }

    pub fn take_notices(&mut self) -> Vec<String> {
        match *self {}
    }

    pub fn stats(&self) -> &[LaunchStats] {
        match *self {}
    }

    pub fn set(&mut self, _tuning: Option<Tuning>) {
        match *self {}
    }

    pub fn set_tune(&mut self, _tune: Tune) {
        match *self {}
    }

    pub fn forget_choices(&mut self) -> usize {
        match *self {}
    }

    pub fn begin_tuning(&mut self) {
        match *self {}
    }

    pub fn take_trials(&mut self) -> Vec<Trial> {
        match *self {}
    }

    pub fn leave(&mut self) {
        match *self {}
    }

    pub fn is_lost(&self) -> bool {
        match *self {}
    }

    pub fn run(
        &mut self,
        _cpu: &mut Cpu,
        _plan: &Rc<Plan>,
        _inputs: &[Array],
        _ctx: &RunCtx,
        _by_cost: bool,
    ) -> Result<Vec<Array>, DeviceError> {
        match *self {}
    }
}
