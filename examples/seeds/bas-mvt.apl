#!/usr/bin/env aplomb
⍝ A matrix by a vector, and the same matrix turned by another.
⍝ Baskaran and others, ICS 2008, pages 225–234: section 7.1 and figure 5.
⍝
⍝     for i: for j: x[i] += a[i][j] × y[j],  z[i] += a[j][i] × w[j]

mvt←{(y w)←⍵ ⋄ (⍺+.×y)((⍉⍺)+.×w)}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
⎕←'mvt       ',⍕+/¨(m 24 32)mvt(g 32)(g 24)
