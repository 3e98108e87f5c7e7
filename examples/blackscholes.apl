#!/usr/bin/env aplomb
⍝ Prices 100 000 European options, calls and puts, by Black-Scholes.
⍝ Run from the project's root: cargo run --release -- examples/blackscholes.apl

⍝ The table: spot price, strike price, years to expiry. As CSV, and column by column as .npy.
(table names)←⎕CSV 'examples/data/options.csv' '' 2 1
(S X T)←↓⍉table
same←S≡⎕NPY 'examples/data/spot.npy'
⎕←(⍕≢S),' options from options.csv; spot.npy holds the same prices: ',(1+same)⊃'no' 'yes'
⎕←'average and greatest price, call then put'

⍝ The cumulative normal distribution by a polynomial of degree five.
cnd←{
    k←÷1+0.2316419×|⍵
    poly←k×0.31938153+k×¯0.356563782+k×1.781477937+k×¯1.821255978+k×1.330274429
    tail←0.3989422804014327×poly×*¯0.5×⍵×⍵
    tail+(⍵>0)×1-2×tail
}
avg←+/÷≢

(r v)←0.02 0.3                        ⍝ rate, volatility
root←v×T*0.5
d1←((⍟S÷X)+T×r+0.5×v*2)÷root
d2←d1-root
paid←X×*-r×T                          ⍝ the strike, discounted
call←(S×cnd d1)-paid×cnd d2
put←(paid×1-cnd d2)-S×1-cnd d1
(avg call)(⌈/call)(avg put)(⌈/put)

⍝ The last line's story: its nodes, what they share, its launches, the bytes it moved.
]why

⍝ The same line with fusion off, and what each took. ]dag draws the graph, ]why n24 asks about a node.
]time
]off fusion
(avg call)(⌈/call)(avg put)(⌈/put)
]time
]on fusion
