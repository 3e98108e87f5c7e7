//! Values and their meaning: arrays, the graph of pending ones, what every scalar function, fold
//! and move gives, and the oracle that computes a graph one element at a time. An array may be a
//! cell of the graph, and a node of the graph holds arrays, so the two share this room.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod array;
pub mod body;
pub mod dag;
pub mod prim;
pub mod reference;
pub mod registers;
