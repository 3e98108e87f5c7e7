//! The control words: a table of their spellings, what each means, and those that are not here.

/// The blocks that an opening word begins and a closing one ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// `:If` … `:EndIf`.
    If,
    /// `:While` … `:EndWhile`, or `:Until`.
    While,
    /// `:Repeat` … `:EndRepeat`, or `:Until`.
    Repeat,
    /// `:For` … `:EndFor`.
    For,
    /// `:Select` … `:EndSelect`.
    Select,
    /// `:Trap` … `:EndTrap`.
    Trap,
    /// `:Hold` … `:EndHold`.
    Hold,
    /// `:Section` … `:EndSection`.
    Section,
    /// `:Namespace` … `:EndNamespace`.
    Namespace,
    /// `:With` … `:EndWith`.
    With,
}

/// The meaning of a control word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// A word that begins a block.
    Open(Block),
    /// A word that ends a block; `:End` ends any.
    Close(Option<Block>),
    /// `:Until`, which ends a loop where its condition holds.
    Until,
    /// `:AndIf`, and whether it is `:OrIf`.
    Further {
        /// `:OrIf`.
        or: bool,
    },
    /// `:ElseIf`.
    ElseIf,
    /// `:Else`.
    Else,
    /// `:Case`, and whether it is `:CaseList`.
    Case {
        /// `:CaseList`.
        list: bool,
    },
    /// `:In` behind the names of `:For`, and whether it is `:InEach`.
    In {
        /// `:InEach`.
        each: bool,
    },
    /// `:Return`.
    Return,
    /// `:Leave`.
    Leave,
    /// `:Continue`.
    Continue,
    /// `:GoTo`.
    GoTo,
    /// A word of classes, interfaces and the like.
    Absent,
}

/// The words as they are written, without the colon; capitals do not count.
pub const WORDS: &[(&str, Control)] = &[
    ("If", Control::Open(Block::If)),
    ("ElseIf", Control::ElseIf),
    ("Else", Control::Else),
    ("AndIf", Control::Further { or: false }),
    ("OrIf", Control::Further { or: true }),
    ("EndIf", Control::Close(Some(Block::If))),
    ("While", Control::Open(Block::While)),
    ("EndWhile", Control::Close(Some(Block::While))),
    ("Repeat", Control::Open(Block::Repeat)),
    ("EndRepeat", Control::Close(Some(Block::Repeat))),
    ("Until", Control::Until),
    ("For", Control::Open(Block::For)),
    ("In", Control::In { each: false }),
    ("InEach", Control::In { each: true }),
    ("EndFor", Control::Close(Some(Block::For))),
    ("Select", Control::Open(Block::Select)),
    ("Case", Control::Case { list: false }),
    ("CaseList", Control::Case { list: true }),
    ("EndSelect", Control::Close(Some(Block::Select))),
    ("Trap", Control::Open(Block::Trap)),
    ("EndTrap", Control::Close(Some(Block::Trap))),
    ("Hold", Control::Open(Block::Hold)),
    ("EndHold", Control::Close(Some(Block::Hold))),
    ("Section", Control::Open(Block::Section)),
    ("EndSection", Control::Close(Some(Block::Section))),
    ("Return", Control::Return),
    ("Leave", Control::Leave),
    ("Continue", Control::Continue),
    ("GoTo", Control::GoTo),
    ("End", Control::Close(None)),
    ("With", Control::Open(Block::With)),
    ("EndWith", Control::Close(Some(Block::With))),
    ("Namespace", Control::Open(Block::Namespace)),
    ("EndNamespace", Control::Close(Some(Block::Namespace))),
    ("Class", Control::Absent),
    ("EndClass", Control::Absent),
    ("Interface", Control::Absent),
    ("EndInterface", Control::Absent),
    ("Property", Control::Absent),
    ("EndProperty", Control::Absent),
    ("Disposable", Control::Absent),
    ("EndDisposable", Control::Absent),
    ("Access", Control::Absent),
    ("Attribute", Control::Absent),
    ("Base", Control::Absent),
    ("Field", Control::Absent),
    ("Implements", Control::Absent),
    ("Include", Control::Absent),
    ("Require", Control::Absent),
    ("Signature", Control::Absent),
    ("Using", Control::Absent),
];

/// The word of that spelling, without its colon.
pub fn find(name: &str) -> Option<Control> {
    WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(name)).map(|(_, control)| *control)
}

/// The spelling of a word, with its colon.
pub fn spelled(control: Control) -> String {
    let found = WORDS.iter().find(|(_, other)| *other == control);
    format!(":{}", found.map_or("", |(word, _)| word))
}
