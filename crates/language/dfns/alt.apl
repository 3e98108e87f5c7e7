⍝ The operand ⍺⍺, and where that is an error, ⍵⍵.
⍝       ÷alt{'none'}0
⍝ none
alt←{
    ⍺←⊢
    0::⍺ ⍵⍵ ⍵
    ⍺ ⍺⍺ ⍵
}
