#!/usr/bin/env aplomb
⍝ A matrix by a matrix, SGEMM of the BLAS.
⍝ Accelerator, ASPLOS 2006, page 334, table 5, “Matrix-matrix multiplication”: 1000², C++ 303 ms.
⍝
⍝     C[i;k] = Σⱼ A[i;j] B[j;k]

matmul←{⍺+.×⍵}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
⎕←'matmul    ',⍕+/,(m 24 32)matmul m 32 20
