#!/usr/bin/env aplomb
⍝ A matrix by a vector.
⍝ Baskaran and others, ICS 2008, pages 225–234: figure 3 and table 2, 4K to 8K.
⍝
⍝     for i: for j: x[i] += a[i][j] × y[j]

mv←{⍺+.×⍵}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
⎕←'mv        ',⍕+/(m 24 32)mv g 32
