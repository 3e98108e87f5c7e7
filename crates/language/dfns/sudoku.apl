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
    digits←1+⍳n
    solve←{
        ⎕IO←0
        board free←⍵
        counts←(+/free)+(n+1)×board≠0
        least←⌊/counts
        least>n:⊂board
        least=0:0⍴⊂board
        place←counts⍳least
        others←~place⌷seen
        try←{
            0=≢⍵:0⍴⊂board
            digit←⊃⍵
            found←solve(digit@place⊢board)(free∧others∘.∨digits≠digit)
            0<≢found:found
            ∇ 1↓⍵
        }
        try(place⌷free)/digits
    }
    given←,⍵
    pairs←(given∘.=given)∧(given≠0)∘.∧given≠0
    1∊seen∧pairs∧~∘.=⍨⍳n×n:0 0⍴0
    found←solve given(~seen∨.∧given∘.=digits)
    0=≢found:0 0⍴0
    n n⍴⊃found
}
