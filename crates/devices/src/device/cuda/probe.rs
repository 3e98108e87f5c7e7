//! Is there a device? Nothing is loaded before somebody asks, and whatever is missing is a
//! sentence.

use super::compile;
use super::driver::{Driver, Facts, Trouble, guarded, name_of};
use cudarc::driver::result::{self, device};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult};

/// The least CUDA that a driver must know: stream-ordered memory and our modules.
const LEAST: i32 = 12_000;

/// Device 0, open; `again`: its context was lost and is made anew. Errors: what is missing, as a
/// sentence's end.
pub fn probe(again: bool) -> Result<Driver, String> {
    if !is_there() {
        return Err("there is no CUDA driver: libcuda.so.1 was not found".into());
    }
    guarded(|| open(again))
        .unwrap_or_else(|| Err("the CUDA driver is too old: it lacks a function".into()))
}

/// The search for a driver that can be loaded. Linux has two names for it, which are asked for
/// here: cudarc would ask for thirty-four, each in every folder, a millisecond of the first line
/// where there is none.
fn is_there() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: loads a library of that name, which stays, for cudarc will ask for it.
    return [c"libcuda.so.1", c"libcuda.so"]
        .iter()
        .any(|name| unsafe { !libc::dlopen(name.as_ptr(), libc::RTLD_LAZY).is_null() });
    #[cfg(not(target_os = "linux"))]
    // SAFETY: looks for a library of that name, and calls it only where it is.
    return guarded(|| unsafe { sys::is_culib_present() }) == Some(true);
}

fn open(again: bool) -> Result<Driver, String> {
    let says = |what: &str, e: result::DriverError| format!("{what}: {}", name_of(e.0));
    if let Err(e) = result::init() {
        return Err(match e.0 {
            CUresult::CUDA_ERROR_NO_DEVICE => "the CUDA driver finds no device".into(),
            _ => says("the CUDA driver does not start", e),
        });
    }
    let mut driver = 0;
    // SAFETY: one integer to be filled.
    let known = unsafe { sys::cuDriverGetVersion(&mut driver) };
    if known != CUresult::CUDA_SUCCESS || driver < LEAST {
        let (old, least) = (dotted(pair(driver)), dotted(pair(LEAST)));
        return Err(format!(
            "the CUDA driver is too old: it knows CUDA {old}, {least} is the least"
        ));
    }
    if device::get_count().map_err(|e| says("the devices cannot be counted", e))? < 1 {
        return Err("the CUDA driver finds no device".into());
    }
    let nvrtc = compile::version()
        .map_err(|e| format!("there is no NVRTC, which compiles for the GPU: {e}"))?;
    if nvrtc.0 > pair(driver).0 {
        let (ours, theirs) = (dotted(nvrtc), dotted(pair(driver)));
        return Err(format!(
            "the CUDA driver is too old: libnvrtc is of CUDA {ours}, the driver knows {theirs}"
        ));
    }
    let device = device::get(0).map_err(|e| says("device 0", e))?;
    if again {
        // SAFETY: a device that the driver named; nothing of its old context is used any more.
        let reset = unsafe { sys::cuDevicePrimaryCtxReset_v2(device) };
        reset.result().map_err(|e| says("device 0 cannot be reset", e))?;
    }
    // SAFETY: a device that the driver named.
    let get = |what: Attribute| {
        unsafe { device::get_attribute(device, what) }.map_err(|e| says("device 0", e))
    };
    if get(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? == 0 {
        return Err("device 0 has no memory pools".into());
    }
    let major = get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let facts = Facts {
        name: device::get_name(device).map_err(|e| says("device 0", e))?,
        arch: format!("sm_{major}{minor}"),
        processors: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1) as u32,
        // SAFETY: as above.
        memory: unsafe { device::total_mem(device) }.map_err(|e| says("device 0", e))? as u64,
        driver: pair(driver),
        nvrtc,
    };
    Driver::open(device, facts).map_err(|e| match e {
        Trouble::Memory => "device 0 has no memory left".into(),
        Trouble::Lost(name) | Trouble::Refused(name) => {
            format!("device 0 cannot be opened: {name}")
        }
        Trouble::Interrupted => "interrupted".into(),
    })
}

/// 12040 is 12.4.
fn pair(version: i32) -> (i32, i32) {
    (version / 1000, version % 1000 / 10)
}

pub fn dotted((major, minor): (i32, i32)) -> String {
    format!("{major}.{minor}")
}
