⍝ The operand ⍺⍺ applied as long as ⍵⍵ of the argument is true; perhaps never.
⍝       {1↓⍵}while{' '∊⍵}'hello world'
⍝ world
while←{
    ⍺←⊢
    ~⍵⍵ ⍵:⍵
    ⍺ ∇ ⍺ ⍺⍺ ⍵
}
