//! The errors: what each means, what usually helps, and a line that gives it.

use crate::error::Kind;

/// Without a line: what no program can bring about.
pub type Row = (Kind, &'static str, Option<&'static str>);

/// The rows of all kinds, in the order in which help lists them.
pub static ROWS: &[Row] = &[
    (
        Kind::WsFull,
        "The arrays need more memory than )limits bytes allows. Work on parts, or )limits bytes=N.",
        Some("1E6 1E6⍴0.5"),
    ),
    (
        Kind::Syntax,
        "The line is no APL: a bracket, a quote, or two things that cannot stand side by side. \
         Look at what the mark is under.",
        Some("1+"),
    ),
    (
        Kind::Value,
        "A name has no value, or a function gave none. Names of other case are other names; )vars \
         lists them.",
        Some("nosuch"),
    ),
    (
        Kind::Rank,
        "An argument has more or fewer axes than the function takes. ⍴⍴x is the number of axes of \
         x; f⍤k works on cells.",
        Some("⍋5"),
    ),
    (
        Kind::Length,
        "Two arguments differ in length along an axis. ⍴x is the shape of x.",
        Some("1 2+1 2 3"),
    ),
    (
        Kind::Index,
        "An index is outside the array. ⎕IO says whether the first is 1 or 0.",
        Some("1 2 3[4]"),
    ),
    (
        Kind::Domain,
        "The function is not defined for this value: 1÷0, ⍟0, text where a number must stand.",
        Some("1÷0"),
    ),
    (
        Kind::Limit,
        "A limit was reached. )limits prints them, )limits NAME=VALUE changes one.",
        Some("{1+∇⍵}1"),
    ),
    (Kind::Nonce, "A part of APL that is not in Aplomb yet.", Some("⎕NA''")),
    (Kind::Format, "⍕ or ⎕FMT was given a format that cannot be read.", Some("'Q9'⎕FMT 1")),
    (
        Kind::FileName,
        "There is no such file, or it is no name of a file.",
        Some("⎕NGET'no such file'"),
    ),
    (
        Kind::FileAccess,
        "The file is there but could not be read or written: is it a folder, is it allowed?",
        Some("'a'⎕SIGNAL 19"),
    ),
    (Kind::Interrupt, "Ctrl-C stopped the line; every name keeps the value it had before.", None),
    (Kind::Internal, "A defect of Aplomb, not of your program; please report the line.", None),
];
