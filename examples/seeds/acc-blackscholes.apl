#!/usr/bin/env aplomb
⍝ European options, calls and puts together, by the formula of Black and Scholes.
⍝ Accelerate, ICFP 2013, pages 49–60: figure 1, section 5.3 and table 2, 20 million options; CUDA
⍝ 6.70 ms, Accelerate 6.19 ms, without sharing 116 ms. Rate 0.02, volatility 0.30.
⍝
⍝     d₁ = (ln(S÷X) + (r + v²÷2) T) ÷ v√T,  d₂ = d₁ − v√T,  e = X exp(−r T)
⍝     call = S N(d₁) − e N(d₂),  put = e (1 − N(d₂)) − S (1 − N(d₁))
⍝     N is Abramowitz and Stegun, 26.2.17

normal←{
    k←÷1+0.2316419×|⍵
    poly←¯0.356563782+k×1.781477937+k×¯1.821255978+k×1.330274429
    tail←0.39894228040143267794×(*¯0.5×⍵×⍵)×k×0.31938153+k×poly
    tail+(⍵>0)×1-2×tail
}
options←{
    (S X T)←⍵ ⋄ (r v)←0.02 0.3
    q←v×T*0.5
    d←((⍟S÷X)+T×r+v×v÷2)÷q
    (n1 n2)←normal¨d(d-q)
    e←X×*-r×T
    ((S×n1)-e×n2)((e×1-n2)-S×1-n1)
}

⍝ Check
⎕PP←12
⎕←'options   ',⍕,⍉↑options(100 20)(100 35)(1 2.5)
