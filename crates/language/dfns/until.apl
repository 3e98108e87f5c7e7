⍝ The operand ⍺⍺ applied once and then again until ⍵⍵ of the result is true.
⍝       {⍵,'.'}until{6=≢⍵}'Note'
⍝ Note..
until←{
    ⍺←⊢
    ⍺ ⍺⍺⍣(⍵⍵⊣)⊢⍵
}
