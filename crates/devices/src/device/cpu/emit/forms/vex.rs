//! The instruction of each step in AVX2: registers of 32 bytes, masks as wide as their lanes.

use super::super::lanes::{Kind, Lanes, Size};
use super::super::tape::Bin;
use iced_x86::Code;

/// The code of a width, of four: bytes, i16, i32 in a whole register, i32 in half of one.
fn by_width(lanes: Lanes, all: [Code; 4]) -> Code {
    match lanes.count {
        32 => all[0],
        16 => all[1],
        8 => all[2],
        _ => all[3],
    }
}

/// The code for a float's type, of three: f64, f32 in a whole register, f32 in half of one.
fn of_float(kind: Kind, lanes: Lanes, [long, short, half]: [Code; 3]) -> Code {
    match kind {
        Kind::F32 if lanes.count == 4 => half,
        Kind::F32 => short,
        _ => long,
    }
}

/// The code of an operation; none: the tape's lanes have no such one.
pub fn bin(op: Bin, kind: Kind, lanes: Lanes) -> Option<Code> {
    use Code::*;
    let floats = |all| Some(of_float(kind, lanes, all));
    let whole = |all| Some(by_width(lanes, all)).filter(|code| *code != INVALID);
    match (kind, op) {
        (Kind::Mask, _) => None,
        (Kind::Int, Bin::Add) => whole([
            VEX_Vpaddb_ymm_ymm_ymmm256,
            VEX_Vpaddw_ymm_ymm_ymmm256,
            VEX_Vpaddd_ymm_ymm_ymmm256,
            VEX_Vpaddd_xmm_xmm_xmmm128,
        ]),
        (Kind::Int, Bin::Sub) => whole([
            VEX_Vpsubb_ymm_ymm_ymmm256,
            VEX_Vpsubw_ymm_ymm_ymmm256,
            VEX_Vpsubd_ymm_ymm_ymmm256,
            VEX_Vpsubd_xmm_xmm_xmmm128,
        ]),
        (Kind::Int, Bin::Mul) => whole([
            INVALID,
            VEX_Vpmullw_ymm_ymm_ymmm256,
            VEX_Vpmulld_ymm_ymm_ymmm256,
            VEX_Vpmulld_xmm_xmm_xmmm128,
        ]),
        (Kind::Int, Bin::Max) => whole([
            VEX_Vpmaxsb_ymm_ymm_ymmm256,
            VEX_Vpmaxsw_ymm_ymm_ymmm256,
            VEX_Vpmaxsd_ymm_ymm_ymmm256,
            VEX_Vpmaxsd_xmm_xmm_xmmm128,
        ]),
        (Kind::Int, Bin::Min) => whole([
            VEX_Vpminsb_ymm_ymm_ymmm256,
            VEX_Vpminsw_ymm_ymm_ymmm256,
            VEX_Vpminsd_ymm_ymm_ymmm256,
            VEX_Vpminsd_xmm_xmm_xmmm128,
        ]),
        (Kind::Int, _) | (_, Bin::Scale) => None,
        (_, Bin::Add) => floats([
            VEX_Vaddpd_ymm_ymm_ymmm256,
            VEX_Vaddps_ymm_ymm_ymmm256,
            VEX_Vaddps_xmm_xmm_xmmm128,
        ]),
        (_, Bin::Sub) => floats([
            VEX_Vsubpd_ymm_ymm_ymmm256,
            VEX_Vsubps_ymm_ymm_ymmm256,
            VEX_Vsubps_xmm_xmm_xmmm128,
        ]),
        (_, Bin::Mul) => floats([
            VEX_Vmulpd_ymm_ymm_ymmm256,
            VEX_Vmulps_ymm_ymm_ymmm256,
            VEX_Vmulps_xmm_xmm_xmmm128,
        ]),
        (_, Bin::Div) => floats([
            VEX_Vdivpd_ymm_ymm_ymmm256,
            VEX_Vdivps_ymm_ymm_ymmm256,
            VEX_Vdivps_xmm_xmm_xmmm128,
        ]),
        (_, Bin::Max) => floats([
            VEX_Vmaxpd_ymm_ymm_ymmm256,
            VEX_Vmaxps_ymm_ymm_ymmm256,
            VEX_Vmaxps_xmm_xmm_xmmm128,
        ]),
        (_, Bin::Min) => floats([
            VEX_Vminpd_ymm_ymm_ymmm256,
            VEX_Vminps_ymm_ymm_ymmm256,
            VEX_Vminps_xmm_xmm_xmmm128,
        ]),
        (_, Bin::And) => floats([
            VEX_Vandpd_ymm_ymm_ymmm256,
            VEX_Vandps_ymm_ymm_ymmm256,
            VEX_Vandps_xmm_xmm_xmmm128,
        ]),
        (_, Bin::Or) => floats([
            VEX_Vorpd_ymm_ymm_ymmm256,
            VEX_Vorps_ymm_ymm_ymmm256,
            VEX_Vorps_xmm_xmm_xmmm128,
        ]),
        (_, Bin::Xor) => floats([
            VEX_Vxorpd_ymm_ymm_ymmm256,
            VEX_Vxorps_ymm_ymm_ymmm256,
            VEX_Vxorps_xmm_xmm_xmmm128,
        ]),
        (_, Bin::Plus) => floats([
            VEX_Vpaddq_ymm_ymm_ymmm256,
            VEX_Vpaddd_ymm_ymm_ymmm256,
            VEX_Vpaddd_xmm_xmm_xmmm128,
        ]),
    }
}

/// `a×b+c` in the register of a, with b and c beside it.
pub fn fma_of_factor(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    let all = [
        VEX_Vfmadd213pd_ymm_ymm_ymmm256,
        VEX_Vfmadd213ps_ymm_ymm_ymmm256,
        VEX_Vfmadd213ps_xmm_xmm_xmmm128,
    ];
    of_float(kind, lanes, all)
}

/// `a×b+c` in the register of c, with a and b beside it.
pub fn fma_of_sum(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    let all = [
        VEX_Vfmadd231pd_ymm_ymm_ymmm256,
        VEX_Vfmadd231ps_ymm_ymm_ymmm256,
        VEX_Vfmadd231ps_xmm_xmm_xmmm128,
    ];
    of_float(kind, lanes, all)
}

/// A whole number, as the immediate byte says.
pub fn rounding(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    let all = [
        VEX_Vroundpd_ymm_ymmm256_imm8,
        VEX_Vroundps_ymm_ymmm256_imm8,
        VEX_Vroundps_xmm_xmmm128_imm8,
    ];
    of_float(kind, lanes, all)
}

/// A pattern moved by some bits.
pub fn shift(kind: Kind, left: bool, lanes: Lanes) -> Code {
    use Code::*;
    let all = match left {
        true => [VEX_Vpsllq_ymm_ymm_imm8, VEX_Vpslld_ymm_ymm_imm8, VEX_Vpslld_xmm_xmm_imm8],
        false => [VEX_Vpsrlq_ymm_ymm_imm8, VEX_Vpsrld_ymm_ymm_imm8, VEX_Vpsrld_xmm_xmm_imm8],
    };
    of_float(kind, lanes, all)
}

pub fn sqrt(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    let all = [VEX_Vsqrtpd_ymm_ymmm256, VEX_Vsqrtps_ymm_ymmm256, VEX_Vsqrtps_xmm_xmmm128];
    of_float(kind, lanes, all)
}

/// From one kind to another, neither of them a mask.
pub fn turn(from: Kind, to: Kind, lanes: Lanes) -> Option<Code> {
    use Code::*;
    Some(match (from, to) {
        (Kind::Int, Kind::F64) => VEX_Vcvtdq2pd_ymm_xmmm128,
        (Kind::F64, Kind::Int) => VEX_Vcvttpd2dq_xmm_ymmm256,
        (Kind::F32, Kind::F64) => VEX_Vcvtps2pd_ymm_xmmm128,
        (Kind::F64, Kind::F32) => VEX_Vcvtpd2ps_xmm_ymmm256,
        (Kind::Int, Kind::F32) if lanes.count == 4 => VEX_Vcvtdq2ps_xmm_xmmm128,
        (Kind::Int, Kind::F32) => VEX_Vcvtdq2ps_ymm_ymmm256,
        _ => return None,
    })
}

/// A whole number from items of so many bytes in memory.
pub fn load_whole(bytes: usize, lanes: Lanes) -> Option<Code> {
    use Code::*;
    Some(match (bytes, lanes.count) {
        (1, 16) => VEX_Vpmovsxbw_ymm_xmmm128,
        (1, 8) => VEX_Vpmovsxbd_ymm_xmmm64,
        (1, 4) => VEX_Vpmovsxbd_xmm_xmmm32,
        (2, 8) => VEX_Vpmovsxwd_ymm_xmmm128,
        (2, 4) => VEX_Vpmovsxwd_xmm_xmmm64,
        (1, 32) | (2, 16) | (4, 8) => VEX_Vmovups_ymm_ymmm256,
        (4, 4) => VEX_Vmovups_xmm_xmmm128,
        _ => return None,
    })
}

/// A register from and to memory as it is.
pub fn moves(size: Size, _: Lanes) -> (Code, Code) {
    use Code::*;
    match size {
        Size::Xmm => (VEX_Vmovups_xmm_xmmm128, VEX_Vmovups_xmmm128_xmm),
        _ => (VEX_Vmovups_ymm_ymmm256, VEX_Vmovups_ymmm256_ymm),
    }
}

/// A constant into all lanes, from 64 bits of memory.
pub fn broadcast(size: Size, _: Lanes) -> Code {
    match size {
        Size::Xmm => Code::VEX_Vpbroadcastq_xmm_xmmm64,
        _ => Code::VEX_Vpbroadcastq_ymm_xmmm64,
    }
}

/// A comparison of floats to a mask of their lanes, as the immediate byte says.
pub fn compare(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    let all = [
        VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
        VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
        VEX_Vcmpps_xmm_xmm_xmmm128_imm8,
    ];
    of_float(kind, lanes, all)
}

/// Equality of whole numbers, or of the patterns of floats.
pub fn equal(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    match kind {
        Kind::F64 => VEX_Vpcmpeqq_ymm_ymm_ymmm256,
        _ => by_width(
            lanes,
            [
                VEX_Vpcmpeqb_ymm_ymm_ymmm256,
                VEX_Vpcmpeqw_ymm_ymm_ymmm256,
                VEX_Vpcmpeqd_ymm_ymm_ymmm256,
                VEX_Vpcmpeqd_xmm_xmm_xmmm128,
            ],
        ),
    }
}

/// The first whole number is the greater one.
pub fn greater(lanes: Lanes) -> Code {
    use Code::*;
    by_width(
        lanes,
        [
            VEX_Vpcmpgtb_ymm_ymm_ymmm256,
            VEX_Vpcmpgtw_ymm_ymm_ymmm256,
            VEX_Vpcmpgtd_ymm_ymm_ymmm256,
            VEX_Vpcmpgtd_xmm_xmm_xmmm128,
        ],
    )
}

/// The second operand where the mask is off, the third where it is on.
pub fn blend(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    match kind {
        Kind::F64 => VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
        _ => by_width(
            lanes,
            [
                VEX_Vpblendvb_ymm_ymm_ymmm256_ymm,
                VEX_Vpblendvb_ymm_ymm_ymmm256_ymm,
                VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
                VEX_Vblendvps_xmm_xmm_xmmm128_xmm,
            ],
        ),
    }
}

/// Bytes that are a truth each, from memory into lanes as wide as the tape's widest; and what is
/// greater there than nothing.
pub fn truths(lanes: Lanes) -> (Code, Code) {
    use Code::*;
    match lanes.count {
        32 => (VEX_Vmovups_ymm_ymmm256, VEX_Vpcmpgtb_ymm_ymm_ymmm256),
        16 => (VEX_Vpmovsxbw_ymm_xmmm128, VEX_Vpcmpgtw_ymm_ymm_ymmm256),
        8 => (VEX_Vpmovsxbd_ymm_xmmm64, VEX_Vpcmpgtd_ymm_ymm_ymmm256),
        _ => (VEX_Vpmovsxbq_ymm_xmmm32, VEX_Vpcmpgtq_ymm_ymm_ymmm256),
    }
}
