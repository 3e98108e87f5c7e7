#!/usr/bin/env aplomb
⍝ What each of n bodies is accelerated by all others.
⍝ Accelerate, ICFP 2013, pages 49–60: section 5.4 and table 2, 32 thousand bodies; CUDA 54.4 ms,
⍝ Accelerate 607 ms, without fusion out of memory. Small distances are softened by ε.
⍝
⍝     aᵢ = Σⱼ mⱼ (rⱼ − rᵢ) ÷ (|rⱼ − rᵢ|² + ε²)^1.5

nbody←{                               ⍝ ⍺ is ε, ⍵ places and masses: x y z m
    (x y z m)←⍵
    (u v w)←∘.-⍨¨x y z                ⍝ rows i, columns j: place i less place j
    s←(⍺×⍺)+(u×u)+(v×v)+w×w
    f←-m×⍤1÷s×s*0.5
    (+/f×u)(+/f×v)(+/f×w)
}

⍝ Check: the sum of their lengths, and that no momentum comes from nowhere.
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
B←↓⍉100 4⍴g 400
a←0.05 nbody B
⎕←'nbody     ',⍕+/(⊃+/a*2)*0.5
⎕←'momentum is 0: ',⍕∧/1E¯9>|+/¨a×B[4]
