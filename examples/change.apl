#!/usr/bin/env aplomb
⍝ Dynamic programming with arrays: coins and a knapsack.

⍝ How many ways are there to pay each amount 0 … n? ⍵[1+k] is that for the coins so far.
⍝ A new coin c adds the ways to pay k-c: a running sum in steps of c. Cut into rows of c, that is +⍀.
use←{n←≢⍵ ⋄ rows←⌈n÷⍺ ⋄ n↑,+⍀rows ⍺⍴(rows×⍺)↑⍵}
ways←{⊃use/(⌽⍺),⊂1,⍵⍴0}

british←1 2 5 10 20 50 100 200
⎕←'Ways to pay 0 to 20 pence'
british ways 20
⎕←'Ways to pay two pounds: ',⍕⊃⌽british ways 200

⍝ The fewest coins: 1 more than the least over all coins, amount by amount.
fewest←{
    coins←⍺
    ⊃⌽{⍵,1+⌊/⍵[(k≥coins)/1+(k←≢⍵)-coins]}⍣⍵⊢,0
}
⎕←'Fewest coins for 63 with 1 5 10 21 25: ',⍕1 5 10 21 25 fewest 63

⍝ Knapsack: each thing is taken or left. ⍵[1+w] is the best value within weight w; taking a thing shifts
⍝ the row by its weight and lifts it by its value.
things←'map' 'compass' 'water' 'sandwich' 'camera' 'tent' 'lamp'
weight←9 13 153 50 32 200 27
value←150 35 200 160 30 150 60
take←{(w v)←⍺ ⋄ ⍵⌈(w⍴0),v+(-w)↓⍵}
room←300
rows←⊃{⍵,⊂⍺ take⊃⌽⍵}/(⌽↓weight,⍪value),⊂,⊂(1+room)⍴0
⎕←'The best value within 300: ',⍕⊃⌽⊃⌽rows

⍝ Which things? One is in the sack if the row changed where it came in; what remains is less by its weight.
packed←{
    (k w)←⍵
    k=0:⍬
    =/(k+0 1)⊃¨⊂(1+w)⊃¨rows:∇(k-1)w
    (∇(k-1)(w-weight[k])),k
}
sack←packed(≢things)room
things[sack]
(+/weight[sack])(+/value[sack])
