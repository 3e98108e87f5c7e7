⍝ Y with each run of blanks made one.
⍝ Of a matrix, runs of columns that are blank in all rows. X may name other characters to count as
⍝ blanks. Nested Y: each of its texts.
⍝       dmb'a   b  c'
⍝ a b c
dmb←{
    ⍺←' '
    1<|≡⍵:⍺ ∇¨⍵
    0=≢⍴⍵:⍺ ∇,⍵
    blank←∧⌿((×/¯1↓⍴⍵),⊢/⍴⍵)⍴⍵∊⍺
    (~blank∧(≢blank)↑0,blank)/⍵
}
