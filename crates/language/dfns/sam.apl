⍝ The operand ⍺⍺ under ⍵⍵: ⍵⍵, then ⍺⍺, then the inverse of ⍵⍵.
⍝       10{⍺+⍵}sam⍟20
⍝ 200
sam←{
    0=⎕NC'⍺':⍵⍵⍣¯1⊢⍺⍺ ⍵⍵ ⍵
    ⍵⍵⍣¯1⊢(⍵⍵ ⍺)⍺⍺ ⍵⍵ ⍵
}
