#!/usr/bin/env aplomb
⍝ N queens: no two in a row, column or diagonal.

⍝ A board is a vector: the column of the queen in each row. Boards grow one row at a time, all at once.
queens←{
    n←⍵
    free←{(⍳n)~⍵,(⍵+d),⍵-d←⌽⍳≢⍵}      ⍝ d: how many rows back each queen stands
    grow←{0=≢⍵:⍵ ⋄ ⊃,/{⍵∘,¨free ⍵}¨⍵}
    grow⍣n⊢,⊂⍬
}

⎕←'Solutions for boards of 1 to 8'
{≢queens ⍵}¨⍳8

boards←queens 8
⎕←'The first for 8: columns, and as a picture'
⊃boards
draw←{'.Q'[1+⍵∘.=⍳≢⍵]}
draw⊃boards

⍝ A board has up to eight images: turned and mirrored. As boards of 0 and 1, ⍉ and ⌽ make them.
images←{m←⍵∘.=⍳≢⍵ ⋄ t←⍉m ⋄ {⍵⍳¨1}∘↓¨m(⌽m)(⊖m)(⌽⊖m)t(⌽t)(⊖t)(⌽⊖t)}
least←{⊃(⊂⍋v)⌷v←images ⍵}             ⍝ one image stands for all
⎕←'Really different ones: ',⍕≢∪least¨boards
