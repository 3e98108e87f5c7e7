⍝ The segments of the vector Y between separators.
⍝ X: the separators, a blank by default. Separators side by side count as one.
⍝       ≢¨',;'segs'ab,;c,'
⍝ 2 1
segs←{
    ⍺←' '
    (~⍵∊⍺)⊆⍵
}
