#!/usr/bin/env aplomb
⍝ Statistics of a series: moving averages, returns, drawdown, quartiles, correlation.

price←100 102 101 105 107 104 108 112 110 115 117 113 109 111 116 121 119 124 123 128
avg←+/÷≢
⎕←'Mean, least, greatest'
(avg price)(⌊/price)(⌈/price)

⎕←'Averages of five days, and of all days up to each of the first ten'
1⍕5(+/÷⊣)price
1⍕10↑(+\÷⍳∘≢)price

⍝ N-wise reduction pairs neighbours: ⍨ because each is divided by the one before.
returns←¯1+2÷⍨/price
⎕←'Best and worst day in %'
2⍕100×(⌈/,⌊/)returns

spread←{(avg 2*⍨⍵-avg ⍵)*0.5}
⎕←'Volatility in %:',2⍕100×spread returns

⍝ ⌈\ is the highest price so far; the drawdown is what was lost since.
drawdown←1-price÷⌈\price
⎕←'Deepest fall in %, and its day'
(2⍕100×⌈/drawdown)(drawdown⍳⌈/drawdown)

⍝ Quantiles interpolate between the sorted values.
quantile←{
    sorted←⍵[⍋⍵]
    at←1+⍺×¯1+≢⍵
    low←⌊at
    sorted[low]+(at-low)×sorted[⌈at]-sorted[low]
}
⎕←'Least, quartiles, greatest'
0 0.25 0.5 0.75 1 quantile price

correlate←{x←⍺-avg ⍺ ⋄ y←⍵-avg ⍵ ⋄ (x+.×y)÷((x+.×x)×y+.×y)*0.5}
⎕←'How much does today tell of tomorrow? Correlation with 1, 2, 3 days later'
2⍕{((-⍵)↓returns)correlate ⍵↓returns}¨⍳3

⍝ Exponential smoothing: 0.3 of the new, 0.7 of the old, day by day.
smooth←{⊃{⍵,(0.3×⍺)+0.7×⊃⌽⍵}/(⌽1↓⍵),⊂,⊃⍵}
⎕←'Smoothed, the last five days'
¯5↑smooth price

⎕←'A picture'
'·█'[1+(⌽100+3×⍳9)∘.≤price]
