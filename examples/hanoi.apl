#!/usr/bin/env aplomb
⍝ The towers of Hanoi.

⍝ Left: from which peg, to which, by way of which. Right: how many discs. Result: a move a row.
hanoi←{
    ⍵=0:0 2⍴0
    (from to via)←⍺
    (from via to∇⍵-1)⍪(from to)⍪via to from∇⍵-1
}

moves←1 3 2 hanoi 3
⎕←'Three discs'
(⍕⍪⍳≢moves),': '∘,⍤1⊢'ABC'[moves[;,1]],' → '∘,⍤1⊢'ABC'[moves[;,2]]

⎕←'Moves for 0 to 12 discs; always 2*n less 1?'
counts←{≢1 3 2 hanoi ⍵}¨0,⍳12
counts
counts≡¯1+2*0,⍳12

⍝ Play the moves: pegs are vectors, top disc first. A disc never lies on a smaller one.
play←{
    (from to)←⍺ ⋄ pegs←⍵
    disc←⊃from⊃pegs
    disc>⊃(to⊃pegs),99:'wrong move'⎕SIGNAL 11
    (from⊃pegs)↓⍨←1
    (to⊃pegs),⍨←disc
    pegs
}
⎕←'Four discs, before and after'
(⍳4)⍬ ⍬
⊃play/(⌽↓1 3 2 hanoi 4),⊂(⍳4)⍬ ⍬
