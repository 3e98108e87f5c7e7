#!/usr/bin/env aplomb
⍝ Solves Sudoku by trying, always in the cell with the fewest choices.

easy←9 9⍴⍎¨'530070000600195000098000060800060003400803001700020006060000280000419005000080079'
hard←9 9⍴⍎¨'000000907000420180000705026100904000050000040000507009920108000034059000507000000'

⍝ Which cells see each other: the same row, column or box. Cells are numbered 1 to 81.
(row col)←↓9 9⊤¯1+⍳81
box←(3×⌊row÷3)+⌊col÷3
sees←⊃∨/∘.=⍨¨row col box

⍝ ⍵ has 0 for empty. The result is a list of one solution, or an empty list.
solve←{
    board←⍵
    empty←⍸0=board
    0=≢empty:,⊂board
    choices←{(⍳9)~sees[⍵;]/board}¨empty
    k←⊃⍋≢¨choices
    try←{
        0=≢⍵:⍵                            ⍝ a dead end
        0<≢found←solve(⊃⍵)@(k⊃empty)⊢board:found
        ∇1↓⍵
    }
    try k⊃choices
}

⍝ A board is right when each of the 27 rows, columns and boxes holds 1 to 9: sorted by ⌸ into those.
right←{cells←,⍵ ⋄ ∧/{(⍳9)≡⍵[⍋⍵]}⍤1⊢⊃⍪/{⍵{⍵}⌸cells}¨row col box}

⎕←'A problem and its solution'
easy(⊢solved←9 9⍴⊃solve,easy)
⎕←'right? ',⍕right solved
⎕←'A harder one'
⊢solved←9 9⍴⊃solve,hard
⎕←'right? ',⍕right solved
