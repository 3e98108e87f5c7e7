⍝ The segments of the vector Y between separators, the empty ones too.
⍝ X: the separators, a blank by default.
⍝       ≢¨','segs'ab,,c'
⍝ 2 0 1
segs←{
    ⍺←' '
    1↓¨(1,⍵∊⍺)⊂(⊃⍺),⍵
}
