⍝ Are both operands true of the argument? The second is asked only if the first is.
⍝       {0<⍵}and{100>⍵}5
⍝ 1
and←{
    ⍺←⊢
    ~⍺ ⍺⍺ ⍵:0
    ⍺ ⍵⍵ ⍵
}
