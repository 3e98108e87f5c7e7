#!/usr/bin/env aplomb
⍝ Each element less the one before it.
⍝ Barracuda (Larsen, 2010), pages 46 and 47, figure 4.3: shared memory makes it four times faster.
⍝
⍝     d[i] = x[i+1] − x[i]

fwddiff←{(1↓⍵)-¯1↓⍵}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
⎕←'fwddiff   ',⍕+/|fwddiff g 1000
