#!/usr/bin/env aplomb
⍝ A multiple of one vector added to another.
⍝ Barracuda (Larsen, 2010), page 45 and figure 4.1; listing 3.2. 2*10 to 2*22 and more; faster than
⍝ cuBLAS at all sizes.
⍝
⍝     y[i] ← α x[i] + y[i]

saxpy←{(a x)←⍺ ⋄ ⍵+a×x}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
x←g 1000
⎕←'saxpy     ',⍕+/2.5 x saxpy⌽x
