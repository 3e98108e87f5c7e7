#!/usr/bin/env aplomb
⍝ A turned matrix by a vector: the columns are summed.
⍝ Baskaran and others, ICS 2008, pages 225–234: figure 3 and table 3, 4K to 8K.
⍝
⍝     for i: for j: x[i] += a[j][i] × y[j]

tmv←{(⍉⍺)+.×⍵}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
⎕←'tmv       ',⍕+/(m 24 32)tmv g 24
