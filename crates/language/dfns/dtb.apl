⍝ Y without its trailing blanks.
⍝ Of a matrix, the columns that are blank in all rows. X may name other characters to drop. Nested
⍝ Y: each of its texts.
⍝       ≢dtb'ab   '
⍝ 2
dtb←{
    ⍺←' '
    1<|≡⍵:⍺ ∇¨⍵
    0=≢⍴⍵:⍺ ∇,⍵
    blank←∧⌿((×/¯1↓⍴⍵),⊢/⍴⍵)⍴⍵∊⍺
    (-+/∧\⌽blank)↓⍤1⊢⍵
}
