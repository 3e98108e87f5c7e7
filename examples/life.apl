#!/usr/bin/env aplomb
⍝ Conway's Game of Life in one line, on a glider.

⍝ ¯1 0 1∘.⌽⊂⍵ is three boards shifted sideways; ¯1 0 1∘.⊖ shifts each up and down: nine boards.
⍝ Their sum counts a cell and its eight neighbours. 3 lives; 4 lives if the cell itself lives:
⍝ 1 ⍵ ∨.∧ 3 4=… is (1∧sum=3)∨(⍵∧sum=4). The edges wrap, so the board is a torus.
life←{⊃1 ⍵∨.∧3 4=+/,¯1 0 1∘.⊖¯1 0 1∘.⌽⊂⍵}

board←8 8↑3 3⍴0 1 0 0 0 1 1 1 1
show←{'·#'[1+⍵]}                      ⍝ a board as characters
generations←{life⍣⍵⊢board}¨0 1 2 3 4

⎕←'A glider, generations 0 to 4'
⊃{⍺,' ',⍵}/show¨generations

⎕←'After 4 it has moved one cell down and right: ',⍕(5⊃generations)≡¯1⊖¯1⌽board
⎕←'After 32 it has come round the board: ',⍕board≡life⍣32⊢board

⍝ The R-pentomino: five cells that grow for a long time.
field←¯24⌽¯24⊖48 48↑3 3⍴0 1 1 1 1 0 0 1 0
cells←{+/,⍵}
later←{⍵,⊂life⍣8⊃⌽⍵}                  ⍝ one more board, eight generations on
⎕←'The R-pentomino''s cells after 0, 8 … 40 generations'
cells¨later⍣5⊢,⊂field
