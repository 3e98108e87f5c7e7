//! Reads of a launch, and the boxes of points that its blocks take.

use super::is_none;
use serde::{Deserialize, Serialize};

/// One read of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadRecord {
    /// The buffer that is read.
    pub buf: u32,
    /// The map from the launch's point to the element, `(i,j)→(j,i)`.
    pub affine: String,
    /// The access matrix, where the map is affine: a row for each axis of the array, a column for
    /// each loop, and a constant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matrix: Vec<Vec<i64>>,
    /// The way in which the read leaves its source; null: not at all.
    pub oob: Option<String>,
    /// Whether neighbouring threads read neighbouring elements.
    pub coalesced: bool,
    /// `none`, the loops along which the map repeats (`higher-order: j`), or how many reads of the
    /// array overlap (`constant: 3.0`); absent where the map is not affine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<String>,
    /// The memory that serves it: `global`, `shared`, `constant`, `register`.
    pub space: String,
    /// The reason why that one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Threads of a warp that meet in one bank of a copy, the most; absent: there is none
    /// (BAS-19).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflicts: Option<u32>,
    /// The time and the threads by which the array's neighbours are met; absent where elements are
    /// met again or values say which (BAS-11, BAS-12).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adj: Option<AdjacencyRecord>,
    /// Elements that all points ask for; 0 where only values tell.
    #[serde(default, skip_serializing_if = "is_none")]
    pub requests: u64,
    /// Different elements among them; 0 where only values tell.
    #[serde(default, skip_serializing_if = "is_none")]
    pub distinct: u64,
}

/// One write of a launch: each point of the loops that are left to it stores an element.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WriteRecord {
    /// The buffer that is written.
    pub buf: u32,
    /// The map from the launch's point to the element, `(i,j)→(i)`; `…` where values say.
    pub affine: String,
    /// The access matrix, as of a read; absent where the map is not affine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matrix: Vec<Vec<i64>>,
}

/// The way in which a read meets neighbours in an array: each `ok` or `fail`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdjacencyRecord {
    /// At one time: no thread goes from one to the other.
    pub time: String,
    /// By threads beside each other.
    pub space: String,
}

/// The box of points that a block takes at a time, in the middle of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockRecord {
    /// Points along each axis of the domain.
    pub points: Vec<usize>,
    /// The boxes that cover the domain.
    pub boxes: u64,
    /// Different elements that the points read.
    pub loads: u64,
    /// Results that they have; those of a fold for each place of its other axes.
    pub results: u64,
}

/// One order of a launch's loops: coordinates in the names of the loops, `i-j`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OrderRecord {
    /// The coordinate that goes from step to step; null: the points are independent.
    pub time: Option<String>,
    /// The coordinate that counts threads; null: there is no loop for it.
    pub space: Option<String>,
    /// All that could count them, those of fewest loops first.
    pub among: Vec<String>,
    /// The other coordinates of space.
    pub others: Vec<String>,
    /// Buffers whose neighbours are met by neighbouring threads.
    pub global: Vec<u32>,
    /// Buffers without reuse for which that is not so.
    pub staged: Vec<u32>,
    /// Bytes that `global` are asked for: the weight of the order.
    #[serde(default)]
    pub bytes: u64,
    /// True of the one that threads of the text follow: the first of those whose `space` they are
    /// counted along, where that meets neighbours.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chosen: bool,
}
