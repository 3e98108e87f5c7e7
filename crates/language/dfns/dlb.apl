⍝ Y without its leading blanks.
⍝ Of a matrix, the columns that are blank in all rows. X may name other characters to drop. Nested
⍝ Y: each of its texts.
⍝       dlb'   ab'
⍝ ab
dlb←{
    ⍺←' '
    1<|≡⍵:⍺ ∇¨⍵
    0=≢⍴⍵:⍺ ∇,⍵
    blank←∧⌿((×/¯1↓⍴⍵),⊢/⍴⍵)⍴⍵∊⍺
    (+/∧\blank)↓⍤1⊢⍵
}
