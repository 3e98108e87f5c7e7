⍝ The operand applied until its result changes no more.
⍝       {⌊0.5×⍵+100÷⍵}limit 90
⍝ 10
limit←{
    ⍺←⊢
    ⍺ ⍺⍺⍣≡⍵
}
