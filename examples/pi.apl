#!/usr/bin/env aplomb
⍝ π by throwing darts: Monte Carlo. ⎕RL makes the same random numbers every time.

⎕RL←2
n←1000000
x←?n⍴0
y←?n⍴0
inside←1≥(x×x)+y×y                     ⍝ within a quarter of a circle?
⎕←'Of a million darts inside: ',⍕+/inside
⊢estimate←4×(+/inside)÷n

⍝ It gets better slowly: ten times as good takes a hundred times as many.
counts←10*1+⍳5
hits←(+\inside)[counts]
⎕←'Darts, estimate, error'
counts,(4×hits÷counts),⍪(○1)-4×hits÷counts

⍝ The estimate is uncertain; the standard error says by how much. Is π within two of them?
error←4×((p×1-p)÷n)*0.5⊣p←(+/inside)÷n
⎕←'Standard error:',5⍕error
⎕←'Within two: ',⍕(2×error)≥|(○1)-estimate

⍝ Buffon's needle: it crosses a line with probability 2÷π.
middle←0.5×?n⍴0                        ⍝ from the needle's middle to the nearest line
angle←(○0.5)×?n⍴0
crosses←middle≤0.5×1○angle
⎕←'By needles:',4⍕2×n÷+/crosses
