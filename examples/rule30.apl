#!/usr/bin/env aplomb
⍝ One-dimensional automata: a cell and its two neighbours decide about the next row.

⍝ The eight neighbourhoods are the numbers 7 … 0 in binary; the rule's bits say what becomes of each.
⍝ 2⊥ of three rows, shifted right, straight, shifted left, numbers them all at once.
step←{bits←⌽(8⍴2)⊤⍺ ⋄ bits[1+2⊥↑(¯1⌽⍵)⍵(1⌽⍵)]}

run←{rule rows←⍺ ⋄ ↑{⍵,⊂rule step⊃⌽⍵}⍣(rows-1)⊢⊂⍵}
seed←63↑¯32↑1                          ⍝ one cell in the middle of 63

⎕←'Rule 30'
' █'[1+30 16 run seed]
⎕←'Rule 90: Pascal''s triangle, odd numbers'
' █'[1+90 16 run seed]

⍝ It is: row n of rule 90 has as many ones as there are odd binomials k!n.
rows←90 8 run 17↑¯9↑1
odd←2|∘.!⍨¯1+⍳8
⎕←'As many in each row: ',⍕(+/rows)≡+⌿odd

⍝ The middle column of rule 30 looks like chance: how many ones among the first 200?
middle←(30 200 run 401↑¯201↑1)[;201]
⎕←'Ones in 200 steps of rule 30''s middle column: ',⍕+/middle
⎕←'It begins ',∊⍕¨40↑middle
