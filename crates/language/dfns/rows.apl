⍝ The operand applied to each row of Y; with X, to rows of X and rows of Y.
⍝       ⌽rows 2 3⍴⍳6
⍝ 3 2 1
⍝ 6 5 4
rows←{
    ⍺←⊢
    ⍺ ⍺⍺⍤1⊢⍵
}
