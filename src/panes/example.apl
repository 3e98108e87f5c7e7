⍝ Prices of 100 000 call options by Black-Scholes. Nothing is computed until a value is shown.
n←100000
S←50+100×(⍳n)÷n              ⍝ spot prices
X←100                        ⍝ the strike price
T←0.25+(n⍴⍳8)÷4              ⍝ years to expiry
(r v)←0.02 0.3               ⍝ rate, volatility

⍝ The cumulative normal distribution by a polynomial of degree five.
cnd←{
    k←÷1+0.2316419×|⍵
    poly←k×0.31938153+k×¯0.356563782+k×1.781477937+k×¯1.821255978+k×1.330274429
    tail←0.3989422804014327×poly×*¯0.5×⍵×⍵
    tail+(⍵>0)×1-2×tail
}

root←v×T*0.5
d1←((⍟S÷X)+T×r+0.5×v*2)÷root
d2←d1-root
call←(S×cnd d1)-(X×*-r×T)×cnd d2

⍝ The average price and the greatest, from one launch.
((+/call)÷n)(⌈/call)
