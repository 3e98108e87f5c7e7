#!/usr/bin/env aplomb
⍝ Where a picture has corners, after Kanade, Lucas, Tomasi and Shi.
⍝ Accelerator, ASPLOS 2006, page 334, table 5, “Corner detection”: 1000 × 1000, C++ 152 ms.
⍝ The taps are binomial, beyond an edge the edge is repeated, a slope is half the difference of the
⍝ neighbours. The paper calls C the Hessian; in the method it is made of the products of slopes.
⍝
⍝     C = G₉ ∗ (Ix², IxIy, Iy²) of I = G₅ ∗ A;  λ₁ ≥ λ₂ its eigenvalues;  cornerness = ½λ₁ + λ₂

wider←{(⍺⌿1↑⍵)⍪⍵⍪⍺⌿¯1↑⍵}              ⍝ the edges repeated
smooth←{n←≢⍵ ⋄ wide←(0.5×¯1+≢⍺)wider ⍵ ⋄ ⊃+/⍺×{n↑⍵↓wide}¨¯1+⍳≢⍺}
gauss←{⍉⍺smooth⍉⍺smooth ⍵}
slope←{wide←1 wider ⍵ ⋄ 0.5×(2↓wide)-¯2↓wide}

corners←{
    even←(1 4 6 4 1÷16)gauss ⍵
    down←slope even ⋄ along←⍉slope⍉even
    (a b c)←(1 8 28 56 70 56 28 8 1÷256)∘gauss¨(along×along)(along×down)(down×down)
    mean←0.5×a+c
    apart←((b*2)+(0.5×a-c)*2)*0.5     ⍝ λ₁ is mean+apart, λ₂ is mean-apart
    (0.5×mean+apart)+mean-apart
}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
K←corners m 24 24
⎕←'corners   ',⍕+/,K
⎕←'strongest ',⍕(⌈/,K),⊃⍸K=⌈/,K
