⍝ The Y-th Fibonacci number, from 0.
⍝ X: the two numbers that it begins with, 0 1 by default.
⍝       fibonacci¨0,⍳10
⍝ 0 1 1 2 3 5 8 13 21 34 55
fibonacci←{
    ⍺←0 1
    step←{⍵≤0:⊃⍺ ⋄ (1⌽⍺+0,⊃⍺)∇ ⍵-1}
    ⍺ step ⍵
}
