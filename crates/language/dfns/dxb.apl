⍝ Y without extra blanks: none at its ends, one between words.
⍝ X may name other characters to count as blanks. Nested Y: each of its texts.
⍝       '[',(dxb'  to   be '),']'
⍝ [to be]
dxb←{
    ⍺←' '
    1<|≡⍵:⍺ ∇¨⍵
    0=≢⍴⍵:⍺ ∇,⍵
    blank←∧⌿((×/¯1↓⍴⍵),⊢/⍴⍵)⍴⍵∊⍺
    ends←(∨\~blank)∧⌽∨\⌽~blank
    (ends∧~blank∧(≢blank)↑1,blank)/⍵
}
