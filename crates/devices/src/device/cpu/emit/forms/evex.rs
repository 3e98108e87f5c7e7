//! The instruction of each step in AVX-512: registers of 64 bytes, masks of a bit a lane.

use super::super::lanes::{Kind, Lanes, Size};
use super::super::tape::Bin;
use iced_x86::Code;

/// The code of a width, of four: bytes, i16, i32 in a whole register, i32 in half of one.
fn by_width(lanes: Lanes, all: [Code; 4]) -> Code {
    match lanes.count {
        64 => all[0],
        32 => all[1],
        16 => all[2],
        _ => all[3],
    }
}

/// The code of f32 in a whole register or in half of one, of these two.
fn by_half(lanes: Lanes, all: [Code; 2]) -> Code {
    all[usize::from(lanes.count == 8)]
}

/// The code of an operation; none: the tape's lanes have no such one.
pub fn bin(op: Bin, kind: Kind, lanes: Lanes) -> Option<Code> {
    use Code::*;
    Some(match (kind, op) {
        (Kind::F64, Bin::Add) => EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
        (Kind::F64, Bin::Sub) => EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
        (Kind::F64, Bin::Mul) => EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
        (Kind::F64, Bin::Div) => EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
        (Kind::F64, Bin::Max) => EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae,
        (Kind::F64, Bin::Min) => EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae,
        (Kind::F64, Bin::Scale) => EVEX_Vscalefpd_zmm_k1z_zmm_zmmm512b64_er,
        (Kind::F64, Bin::And) => EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64,
        (Kind::F64, Bin::Or) => EVEX_Vporq_zmm_k1z_zmm_zmmm512b64,
        (Kind::F64, Bin::Xor) => EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64,
        (Kind::F64, Bin::Plus) => EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64,
        (Kind::F32, Bin::Add) => by_half(
            lanes,
            [EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32],
        ),
        (Kind::F32, Bin::Sub) => by_half(
            lanes,
            [EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32],
        ),
        (Kind::F32, Bin::Mul) => by_half(
            lanes,
            [EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32],
        ),
        (Kind::F32, Bin::Div) => by_half(
            lanes,
            [EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er, EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32],
        ),
        (Kind::F32, Bin::Max) => by_half(
            lanes,
            [EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32],
        ),
        (Kind::F32, Bin::Min) => by_half(
            lanes,
            [EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae, EVEX_Vminps_ymm_k1z_ymm_ymmm256b32],
        ),
        (Kind::F32, Bin::Scale) => by_half(
            lanes,
            [EVEX_Vscalefps_zmm_k1z_zmm_zmmm512b32_er, EVEX_Vscalefps_ymm_k1z_ymm_ymmm256b32],
        ),
        (Kind::F32, Bin::And) => {
            by_half(lanes, [EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32])
        }
        (Kind::F32, Bin::Or) => {
            by_half(lanes, [EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, EVEX_Vpord_ymm_k1z_ymm_ymmm256b32])
        }
        (Kind::F32, Bin::Xor) => {
            by_half(lanes, [EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32])
        }
        (Kind::F32, Bin::Plus) => {
            by_half(lanes, [EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32])
        }
        (Kind::Int, Bin::Add) => by_width(
            lanes,
            [
                EVEX_Vpaddb_zmm_k1z_zmm_zmmm512,
                EVEX_Vpaddw_zmm_k1z_zmm_zmmm512,
                EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
                EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32,
            ],
        ),
        (Kind::Int, Bin::Sub) => by_width(
            lanes,
            [
                EVEX_Vpsubb_zmm_k1z_zmm_zmmm512,
                EVEX_Vpsubw_zmm_k1z_zmm_zmmm512,
                EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
                EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32,
            ],
        ),
        (Kind::Int, Bin::Mul) => by_width(
            lanes,
            [
                INVALID,
                EVEX_Vpmullw_zmm_k1z_zmm_zmmm512,
                EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
                EVEX_Vpmulld_ymm_k1z_ymm_ymmm256b32,
            ],
        ),
        (Kind::Int, Bin::Max) => by_width(
            lanes,
            [
                EVEX_Vpmaxsb_zmm_k1z_zmm_zmmm512,
                EVEX_Vpmaxsw_zmm_k1z_zmm_zmmm512,
                EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
                EVEX_Vpmaxsd_ymm_k1z_ymm_ymmm256b32,
            ],
        ),
        (Kind::Int, Bin::Min) => by_width(
            lanes,
            [
                EVEX_Vpminsb_zmm_k1z_zmm_zmmm512,
                EVEX_Vpminsw_zmm_k1z_zmm_zmmm512,
                EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
                EVEX_Vpminsd_ymm_k1z_ymm_ymmm256b32,
            ],
        ),
        _ => return None,
    })
    .filter(|code| *code != INVALID)
}

/// The code for a float's type, of three: f64, f32 in a whole register, f32 in half of one.
fn of_float(kind: Kind, lanes: Lanes, [long, short, half]: [Code; 3]) -> Code {
    if kind == Kind::F32 { by_half(lanes, [short, half]) } else { long }
}

/// `a×b+c` in the register of a, with b and c beside it.
pub fn fma_of_factor(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    let all = [
        EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
        EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32,
    ];
    of_float(kind, lanes, all)
}

/// `a×b+c` in the register of c, with a and b beside it.
pub fn fma_of_sum(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    let all = [
        EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        EVEX_Vfmadd231ps_ymm_k1z_ymm_ymmm256b32,
    ];
    of_float(kind, lanes, all)
}

/// A whole number, as the immediate byte says.
pub fn rounding(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    let all = [
        EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae,
        EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
        EVEX_Vrndscaleps_ymm_k1z_ymmm256b32_imm8,
    ];
    of_float(kind, lanes, all)
}

/// A pattern moved by some bits.
pub fn shift(kind: Kind, left: bool, lanes: Lanes) -> Code {
    use Code::*;
    let all = match left {
        true => [
            EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8,
            EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8,
            EVEX_Vpslld_ymm_k1z_ymmm256b32_imm8,
        ],
        false => [
            EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8,
            EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8,
            EVEX_Vpsrld_ymm_k1z_ymmm256b32_imm8,
        ],
    };
    of_float(kind, lanes, all)
}

/// The test for a one that two patterns have in common.
pub fn bits_tested(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    let all = [
        EVEX_Vptestmq_kr_k1_zmm_zmmm512b64,
        EVEX_Vptestmd_kr_k1_zmm_zmmm512b32,
        EVEX_Vptestmd_kr_k1_ymm_ymmm256b32,
    ];
    of_float(kind, lanes, all)
}

/// A comparison to a mask. Of floats 0, 1 and 2 are =, < and ≤, of whole numbers too.
pub fn compare(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    match kind {
        Kind::F64 => EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
        Kind::F32 => by_half(
            lanes,
            [EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8],
        ),
        _ => by_width(
            lanes,
            [
                EVEX_Vpcmpb_kr_k1_zmm_zmmm512_imm8,
                EVEX_Vpcmpw_kr_k1_zmm_zmmm512_imm8,
                EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
                EVEX_Vpcmpd_kr_k1_ymm_ymmm256b32_imm8,
            ],
        ),
    }
}

/// The classes of a float: NaN and ∞ are the bits of `NOT_FINITE`.
pub fn class(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    let all = [
        EVEX_Vfpclasspd_kr_k1_zmmm512b64_imm8,
        EVEX_Vfpclassps_kr_k1_zmmm512b32_imm8,
        EVEX_Vfpclassps_kr_k1_ymmm256b32_imm8,
    ];
    of_float(kind, lanes, all)
}

/// Quiet NaN, +∞, -∞, signalling NaN.
pub const NOT_FINITE: u32 = 0x01 | 0x08 | 0x10 | 0x80;

pub fn sqrt(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    let all = [
        EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er,
        EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er,
        EVEX_Vsqrtps_ymm_k1z_ymmm256b32,
    ];
    of_float(kind, lanes, all)
}

/// The second operand where the mask is off, the third where it is on.
pub fn blend(kind: Kind, lanes: Lanes) -> Code {
    use Code::*;
    match kind {
        Kind::F64 => EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64,
        Kind::F32 => by_half(
            lanes,
            [EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32, EVEX_Vblendmps_ymm_k1z_ymm_ymmm256b32],
        ),
        _ => by_width(
            lanes,
            [
                EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512,
                EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512,
                EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32,
                EVEX_Vpblendmd_ymm_k1z_ymm_ymmm256b32,
            ],
        ),
    }
}

/// From one kind to another, neither of them a mask.
pub fn turn(from: Kind, to: Kind, lanes: Lanes) -> Option<Code> {
    use Code::*;
    Some(match (from, to) {
        (Kind::Int, Kind::F64) => EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er,
        (Kind::F64, Kind::Int) => EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae,
        (Kind::F32, Kind::F64) => EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae,
        (Kind::F64, Kind::F32) => EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er,
        (Kind::Int, Kind::F32) => by_half(
            lanes,
            [EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er, EVEX_Vcvtdq2ps_ymm_k1z_ymmm256b32],
        ),
        _ => return None,
    })
}

/// A whole number from items of so many bytes in memory.
pub fn load_whole(bytes: usize, lanes: Lanes) -> Option<Code> {
    use Code::*;
    Some(match (bytes, lanes.count) {
        (1, 64) => EVEX_Vmovdqu8_zmm_k1z_zmmm512,
        (1, 32) => EVEX_Vpmovsxbw_zmm_k1z_ymmm256,
        (1, 16) => EVEX_Vpmovsxbd_zmm_k1z_xmmm128,
        (1, _) => EVEX_Vpmovsxbd_ymm_k1z_xmmm64,
        (2, 32) => EVEX_Vmovdqu16_zmm_k1z_zmmm512,
        (2, 16) => EVEX_Vpmovsxwd_zmm_k1z_ymmm256,
        (2, 8) => EVEX_Vpmovsxwd_ymm_k1z_xmmm128,
        (4, 16) => EVEX_Vmovdqu32_zmm_k1z_zmmm512,
        (4, 8) => EVEX_Vmovdqu32_ymm_k1z_ymmm256,
        _ => return None,
    })
}

/// A whole number into items of so many bytes, cut off.
pub fn store_whole(bytes: usize, lanes: Lanes) -> Option<Code> {
    use Code::*;
    Some(match (bytes, lanes.count) {
        (1, 64) => EVEX_Vmovdqu8_zmmm512_k1z_zmm,
        (1, 32) => EVEX_Vpmovwb_ymmm256_k1z_zmm,
        (1, 16) => EVEX_Vpmovdb_xmmm128_k1z_zmm,
        (1, _) => EVEX_Vpmovdb_xmmm64_k1z_ymm,
        (2, 32) => EVEX_Vmovdqu16_zmmm512_k1z_zmm,
        (2, 16) => EVEX_Vpmovdw_ymmm256_k1z_zmm,
        (2, 8) => EVEX_Vpmovdw_xmmm128_k1z_ymm,
        (4, 16) => EVEX_Vmovdqu32_zmmm512_k1z_zmm,
        (4, 8) => EVEX_Vmovdqu32_ymmm256_k1z_ymm,
        _ => return None,
    })
}

/// A register from and to memory as it is.
pub fn moves(size: Size, _: Lanes) -> (Code, Code) {
    use Code::*;
    match size {
        Size::Zmm => (EVEX_Vmovups_zmm_k1z_zmmm512, EVEX_Vmovups_zmmm512_k1z_zmm),
        Size::Ymm => (EVEX_Vmovups_ymm_k1z_ymmm256, EVEX_Vmovups_ymmm256_k1z_ymm),
        Size::Xmm => (EVEX_Vmovups_xmm_k1z_xmmm128, EVEX_Vmovups_xmmm128_k1z_xmm),
    }
}

/// A constant into all lanes, from 64 bits of memory.
pub fn broadcast(size: Size, _: Lanes) -> Code {
    match size {
        Size::Zmm => Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
        _ => Code::EVEX_Vbroadcastsd_ymm_k1z_xmmm64,
    }
}

/// Bytes that are a truth each: loaded, tested, made and stored.
pub struct Bytes {
    pub load: Code,
    pub test: Code,
    pub make: Code,
    pub one: Code,
    pub store: Code,
}

pub fn bytes(lanes: Lanes) -> Bytes {
    use Code::*;
    match lanes.count {
        64 => Bytes {
            load: EVEX_Vmovdqu8_zmm_k1z_zmmm512,
            test: EVEX_Vptestmb_kr_k1_zmm_zmmm512,
            make: EVEX_Vpmovm2b_zmm_kr,
            one: EVEX_Vpabsb_zmm_k1z_zmmm512,
            store: EVEX_Vmovdqu8_zmmm512_k1z_zmm,
        },
        32 => Bytes {
            load: EVEX_Vmovdqu8_ymm_k1z_ymmm256,
            test: EVEX_Vptestmb_kr_k1_ymm_ymmm256,
            make: EVEX_Vpmovm2b_ymm_kr,
            one: EVEX_Vpabsb_ymm_k1z_ymmm256,
            store: EVEX_Vmovdqu8_ymmm256_k1z_ymm,
        },
        16 => Bytes {
            load: EVEX_Vmovdqu8_xmm_k1z_xmmm128,
            test: EVEX_Vptestmb_kr_k1_xmm_xmmm128,
            make: EVEX_Vpmovm2b_xmm_kr,
            one: EVEX_Vpabsb_xmm_k1z_xmmm128,
            store: EVEX_Vmovdqu8_xmmm128_k1z_xmm,
        },
        _ => Bytes {
            load: EVEX_Vmovq_xmm_xmmm64,
            test: EVEX_Vptestmb_kr_k1_xmm_xmmm128,
            make: EVEX_Vpmovm2b_xmm_kr,
            one: EVEX_Vpabsb_xmm_k1z_xmmm128,
            store: EVEX_Vmovq_xmmm64_xmm,
        },
    }
}
