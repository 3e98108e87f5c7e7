⍝ Y without the blanks at its ends.
⍝ Of a matrix, the columns there that are blank in all rows. X may name other characters to drop.
⍝ Nested Y: each of its texts.
⍝       ≢deb'  a  b '
⍝ 4
deb←{
    ⍺←' '
    1<|≡⍵:⍺ ∇¨⍵
    0=≢⍴⍵:⍺ ∇,⍵
    used←~∧⌿((×/¯1↓⍴⍵),⊢/⍴⍵)⍴⍵∊⍺
    ((∨\used)∧⌽∨\⌽used)/⍵
}
