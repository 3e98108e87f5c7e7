#!/usr/bin/env aplomb
⍝ A picture blurred by a 5 × 5 Gaussian, five taps along the columns and five along the rows.
⍝ Accelerator, ASPLOS 2006, page 334, table 5, “Convolve”: 1000 × 1000, C++ 86 ms.
⍝ The taps are 1 4 6 4 1÷16; beyond an edge the edge is repeated. The paper states neither.
⍝
⍝     B[i;j] = Σₖ w[k] A[i+k;j], k from ¯2 to 2, and the same along the rows

smooth←{
    n←≢⍵ ⋄ k←≢⍺ ⋄ half←(k-1)÷2
    wide←(half⌿1↑⍵)⍪⍵⍪half⌿¯1↑⍵       ⍝ the edges repeated
    ⊃+/⍺×{n↑⍵↓wide}¨¯1+⍳k             ⍝ the taps times the picture, shifted
}
convolve←{⍉⍺smooth⍉⍺smooth ⍵}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
⎕←'convolve  ',⍕+/,(1 4 6 4 1÷16)convolve m 24 24

⍝ The paper's own listing shifts by 0 to 4 and leaves open what comes in: here it is 0.
blur←{n←≢⍵ ⋄ a←⍵ ⋄ ⊃+/⍺×{(-n)↑(-⍵)↓a}¨¯1+⍳≢⍺}
⎕←'listing   ',⍕+/,(1 4 6 4 1÷16){⍉⍺blur⍉⍺blur ⍵}m 24 24
