//! Defects that tests plant, one in each pass that can have one, to see that they are caught (ACC-31).
//!
//! `Options::fault` chooses one; builds without debug assertions know none.

/// What goes wrong, and who should see it: the verifier alone (`verified`), or the comparison with the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// record: a root is lost, another takes its place.
    SwapOperands,
    /// simplify: x-0 where it says 0-x.
    WrongSide,
    /// simplify: composed reads forget the outer tests.
    DropTests,
    /// cse: nodes of one kind and equal operands meet, whatever their operation.
    MergeUnlike,
    /// push-down: a read is one place off.
    OffByOne,
    /// fuse-producers: E1 is forgotten.
    PartOfWhatFails,
    /// embed-consumers: a fold joins a launch along another axis.
    OtherAxis,
    /// horizontal: launches of other domains merge.
    OtherDomain,
    /// hoist: a nested fold folds the frame.
    FoldTheFrame,
    /// split: what is cut off is read before it is written.
    LateWrite,
    /// emit: a step reads the next one.
    NextStep,
    /// emit: a step forgets its guard.
    DropGuard,
}

impl Fault {
    pub const ALL: [Fault; 12] = [
        Fault::SwapOperands,
        Fault::WrongSide,
        Fault::DropTests,
        Fault::MergeUnlike,
        Fault::OffByOne,
        Fault::PartOfWhatFails,
        Fault::OtherAxis,
        Fault::OtherDomain,
        Fault::FoldTheFrame,
        Fault::LateWrite,
        Fault::NextStep,
        Fault::DropGuard,
    ];
}
