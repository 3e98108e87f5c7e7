⍝ All values that the operand, applied again and again, passes through: until one comes back.
⍝       {2|⍵:1+3×⍵ ⋄ ⍵÷2}traj 7
⍝ 7 22 11 34 17 52 26 13 40 20 10 5 16 8 4 2 1
traj←{
    f←⍺⍺
    on←{
        next←f⊃⌽⍵
        (⊂next)∊⍵:⍵
        ∇ ⍵,⊂next
    }
    on,⊂⍵
}
