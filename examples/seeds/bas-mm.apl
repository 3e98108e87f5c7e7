#!/usr/bin/env aplomb
⍝ A matrix by a matrix.
⍝ Baskaran and others, ICS 2008, pages 225–234: section 7.3, figures 5 and 6, 4096 × 4096.
⍝
⍝     for i: for j: for k: C[i][j] += A[i][k] × B[k][j]

mm←{⍺+.×⍵}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
⎕←'mm        ',⍕+/,(m 24 32)mm m 32 20
