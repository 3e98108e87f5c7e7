#!/usr/bin/env aplomb
⍝ A generation of Conway's Game of Life, its cells held as floating-point numbers.
⍝ Accelerator, ASPLOS 2006, page 334, table 5, “Life”: one generation, 1000 × 1000, C++ 45 ms.
⍝ Cells are floats “to model a general cellular automaton”. That the edges meet is our choice.
⍝
⍝     s = the sum of a cell and its eight neighbours;  the next cell is (s=3) + cell × (s=4)

life←{
    rows←⍵+(1⌽⍵)+¯1⌽⍵
    s←rows+(1⊖rows)+¯1⊖rows
    (s=3)+⍵×s=4
}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
L←'f64'⎕AS 0.6<m 32 32
⎕←'life      ',⍕(+/,L)(+/,life⍣10⊢L)
