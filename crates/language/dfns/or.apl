⍝ Is one of both operands true of the argument? The second is asked only if the first is not.
⍝       {0=⍵}or{100<÷⍵}0
⍝ 1
or←{
    ⍺←⊢
    ⍺ ⍺⍺ ⍵:1
    ⍺ ⍵⍵ ⍵
}
