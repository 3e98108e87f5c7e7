//! The instructions that the loops may use. Chosen once; `APLOMB_ISA=vm|avx2|avx512` takes a lesser
//! one, for tests.

use std::sync::OnceLock;

/// The instruction sets that the loops are compiled for, from the least to the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// Runs everywhere.
    Portable,
    /// Registers of four f64.
    Avx2,
    /// Registers of eight f64.
    Avx512,
}

impl Isa {
    /// All, from the least to the best.
    pub const ALL: [Isa; 3] = [Isa::Portable, Isa::Avx2, Isa::Avx512];

    /// The name that `APLOMB_ISA` takes.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "vm",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// The best that this machine has.
    pub fn best() -> Isa {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let has = [
                is_x86_feature_detected!("avx512f"),
                is_x86_feature_detected!("avx512dq"),
                is_x86_feature_detected!("avx512vl"),
                is_x86_feature_detected!("avx512bw"),
            ];
            if avx2 && has.iter().all(|&h| h) {
                return Isa::Avx512;
            }
            if avx2 {
                return Isa::Avx2;
            }
        }
        Isa::Portable
    }

    /// Those that this machine can run, least first.
    pub fn available() -> impl Iterator<Item = Isa> {
        let best = Isa::best();
        Isa::ALL.into_iter().filter(move |&isa| isa <= best)
    }

    /// The best, or what `APLOMB_ISA` asks for, if the machine has it.
    pub fn chosen() -> Isa {
        static CHOSEN: OnceLock<Isa> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            let asked = std::env::var("APLOMB_ISA").ok();
            let named = asked.and_then(|name| Isa::ALL.into_iter().find(|isa| isa.name() == name));
            named.unwrap_or(Isa::Avx512).min(Isa::best())
        })
    }
}

/// Work whose loops are compiled for each instruction set.
pub trait Work {
    type Out;

    /// Does it. Always inlined into a caller that has the instructions.
    fn run(self) -> Self::Out;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi2")]
unsafe fn by_avx2<W: Work>(work: W) -> W::Out {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2")]
unsafe fn by_avx512<W: Work>(work: W) -> W::Out {
    work.run()
}

impl Isa {
    /// Does work by these instructions, which the machine has.
    pub fn run<W: Work>(self, work: W) -> W::Out {
        match self {
            // SAFETY: it is the machine's instruction set.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { by_avx512(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { by_avx2(work) },
            _ => work.run(),
        }
    }
}

/// A file's loops for each instruction set, by its macro that makes those of one in a module with
/// their table `ALL`, of registers of f64 where it says so (`lanes`); and the function that gives
/// the table of one.
macro_rules! by_isa {
    ($instances:ident of lanes, $($of:tt)*) => {
        by_isa!(@ $instances, (f64), (V4), (V8), $($of)*);
    };
    ($instances:ident, $($of:tt)*) => {
        by_isa!(@ $instances, (), (), (), $($of)*);
    };
    (@ $instances:ident, ($($one:ty)?), ($($four:ty)?), ($($eight:ty)?),
        $(#[$doc:meta])* $name:ident, $table:ty) => {
        $instances!(portable $(, $one)?);
        #[cfg(target_arch = "x86_64")]
        $instances!(avx2 $(, $four)?, "avx2,fma,bmi2");
        #[cfg(target_arch = "x86_64")]
        $instances!(avx512 $(, $eight)?, "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2");

        $(#[$doc])*
        pub fn $name(isa: $crate::device::cpu::Isa) -> $table {
            match isa {
                #[cfg(target_arch = "x86_64")]
                $crate::device::cpu::Isa::Avx512 => avx512::ALL,
                #[cfg(target_arch = "x86_64")]
                $crate::device::cpu::Isa::Avx2 => avx2::ALL,
                _ => portable::ALL,
            }
        }
    };
}
pub(super) use by_isa;
