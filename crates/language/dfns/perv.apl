⍝ The operand applied to each simple scalar of Y, whatever holds it.
⍝ With X, to pairs of them as scalar functions pair theirs.
⍝       {⍵ ⍵}perv 1(2 3)
⍝  1 1   2 2  3 3
perv←{
    f←⍺⍺
    0=⎕NC'⍺':{0=≡⍵:f ⍵ ⋄ ∇¨⍵}⍵
    ⍺{1=≡⍺ ⍵:⍺ f ⍵ ⋄ ⍺ ∇¨⍵}⍵
}
