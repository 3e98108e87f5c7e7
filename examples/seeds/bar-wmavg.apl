#!/usr/bin/env aplomb
⍝ Spencer's moving average of fifteen points.
⍝ Barracuda (Larsen, 2010), page 47, listing 4.2: shared memory makes it eight times faster.
⍝ Its slices are n−15 long and lose the last of the n−14 windows; these are all of them.
⍝
⍝     a[i] = Σₖ w[k] x[i+k],  k from 0 to 14

spencer←320÷⍨¯3 ¯6 ¯5 3 21 46 67 74 67 46 21 3 ¯5 ¯6 ¯3
wmavg←{n←1+(≢⍵)-≢⍺ ⋄ x←⍵ ⋄ ⊃+/⍺×{n↑⍵↓x}¨¯1+⍳≢⍺}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
a←spencer wmavg g 1000
⎕←'wmavg     ',⍕(+/a)(+/¯1↓a)
