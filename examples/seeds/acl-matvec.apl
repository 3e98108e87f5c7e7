#!/usr/bin/env aplomb
⍝ A matrix by a vector, SGEMV of the BLAS.
⍝ Accelerator, ASPLOS 2006, page 334, table 5, “Matrix-vector multiplication”: 1000², C++ 1 ms.
⍝
⍝     x[i] = Σⱼ A[i;j] y[j]

matvec←{⍺+.×⍵}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
⎕←'matvec    ',⍕+/(m 24 32)matvec g 32
