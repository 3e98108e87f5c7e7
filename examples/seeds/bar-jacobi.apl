#!/usr/bin/env aplomb
⍝ Sweeps of Jacobi's method for Poisson's equation without a source, the border held fixed.
⍝ Barracuda (Larsen, 2010), page 47: shared memory makes it twice as fast; at most forty percent
⍝ slower than by hand.
⍝
⍝     u[i;j] ← ¼ (u[i−1;j] + u[i+1;j] + u[i;j−1] + u[i;j+1]) inside, u[i;j] on the border

jacobi←{
    inner←0.25×(1 0↓¯1 0↓(0 2↓⍵)+0 ¯2↓⍵)+0 1↓0 ¯1↓(2↓⍵)+¯2↓⍵
    rows←1↓¯1↓⍵
    (1↑⍵)⍪(rows[;,1],inner,rows[;,1↓⍴rows])⍪¯1↑⍵
}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
⎕←'jacobi    ',⍕+/,jacobi⍣10⊢m 16 16
