//! The forms of launches on a GPU, as traces name them and as people are told.

/// The forms: the name in `kernels[].form`, and who takes the launch's points.
pub const FORMS: &[(&str, &str)] = &[
    ("map", "a block takes points in a row"),
    ("boxes", "a block takes a box, which it copies first"),
    ("tiles", "a block takes a tile of a product, with copies of both operands"),
    ("pairs", "a block takes rows, with copies of what they all read"),
    ("all", "all threads take points of one result"),
    ("threads", "a thread takes results by itself"),
    ("warps", "a warp takes a row"),
    ("blocks", "a block takes a row"),
    ("parts", "a block takes a part of a row"),
    ("strips", "a block takes a part of lines side by side"),
    ("staged", "a thread takes a row, of which its block copies parts"),
    ("scan", "a block takes a tile, and what stands before it from earlier ones"),
    ("compact", "a block takes a tile, and its place from earlier ones"),
    ("thread-segments", "a thread takes a segment"),
    ("warp-segments", "a warp takes a segment"),
    ("merged-segments", "a thread takes as many elements and ends of segments as any other"),
    ("whole", "kernels of its own take the whole array"),
];

/// Who takes the points of a launch of that form.
pub fn form_says(name: &str) -> &'static str {
    FORMS.iter().find(|form| form.0 == name).map_or(FORMS[0].1, |form| form.1)
}
