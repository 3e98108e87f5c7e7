#!/usr/bin/env aplomb
⍝ The sum of the magnitudes of a matrix, SASUM of the BLAS.
⍝ Accelerator, ASPLOS 2006, page 334, table 5, “Sum”: 1000 × 1000, C++ 1 ms.
⍝
⍝     s = Σᵢⱼ |A[i;j]|

sum←{+/|,⍵}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
⎕←'sum       ',⍕sum ¯0.5+g 1000
