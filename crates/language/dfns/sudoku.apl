⍝ The first solution of the sudoku Y: a square matrix of 4, 9, 16 … rows with 0 for what is unknown.
⍝ An empty result: there is none.
⍝       sudoku 4 4⍴1 0 0 0 0 0 3 0 0 4 0 0 0 0 0 2
⍝ 1 3 2 4
⍝ 4 2 3 1
⍝ 2 4 1 3
⍝ 3 1 4 2
sudoku←{
    ⎕IO←0
    n←≢⍵
    b←⌊0.5+n*÷2
    row←(n×n)⍴n/⍳n
    column←(n×n)⍴⍳n
    block←(b×⌊row÷b)+⌊column÷b
    seen←(row∘.=row)∨(column∘.=column)∨block∘.=block
    solve←{
        ⎕IO←0
        open←⍸0=⍵
        0=≢open:⊂⍵
        free←(⊂1+⍳n)~¨(⊂⍵){(⍵/⍺)~0}¨↓seen[open;]
        counts←≢¨free
        k←counts⍳⌊/counts
        place←open[k]
        board←⍵
        try←{
            0=≢⍵:0⍴⊂board
            found←solve(⊃⍵)@place⊢board
            0<≢found:found
            ∇ 1↓⍵
        }
        try k⊃free
    }
    found←solve,⍵
    0=≢found:0 0⍴0
    n n⍴⊃found
}
