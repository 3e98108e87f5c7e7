⍝ The operand ⍺⍺ applied ⍵⍵ times, as ⍣ does: {⍵×2}pow 10⊢1.
pow←{
    ⍺←⊢
    f←⍺∘⍺⍺
    0{⍺=n:⍵ ⋄ (⍺+1)∇ f ⍵}⍵⊣n←⍵⍵
}
