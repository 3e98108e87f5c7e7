#!/usr/bin/env aplomb
⍝ The sum of products of two vectors, a map inside of a fold.
⍝ Barracuda (Larsen, 2010), page 45 and figure 4.1; faster than cuBLAS at all sizes but one.
⍝
⍝     s = Σᵢ x[i] y[i]

sdot←{⍺+.×⍵}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
x←g 1000
⎕←'sdot      ',⍕x sdot⌽x
