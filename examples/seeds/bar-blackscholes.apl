#!/usr/bin/env aplomb
⍝ European calls by the formula of Black and Scholes: one result, all that Barracuda could return.
⍝ Barracuda (Larsen, 2010), pages 45 and 46, figure 4.1: within ten percent of the CUDA SDK.
⍝ Rate 0.02, volatility 0.30.
⍝
⍝     d₁ = (ln(S÷X) + (r + v²÷2) T) ÷ v√T,  d₂ = d₁ − v√T;  call = S N(d₁) − X exp(−r T) N(d₂)
⍝     N is Abramowitz and Stegun, 26.2.17

normal←{
    k←÷1+0.2316419×|⍵
    poly←¯0.356563782+k×1.781477937+k×¯1.821255978+k×1.330274429
    tail←0.39894228040143267794×(*¯0.5×⍵×⍵)×k×0.31938153+k×poly
    tail+(⍵>0)×1-2×tail
}
call←{
    (S X T)←⍵ ⋄ (r v)←0.02 0.3
    q←v×T*0.5
    d←((⍟S÷X)+T×r+v×v÷2)÷q
    (S×normal d)-(X×*-r×T)×normal d-q
}

⍝ Check
⎕PP←12
⎕←'call      ',⍕call(100 20)(100 35)(1 2.5)
