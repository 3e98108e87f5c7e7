⍝ All ways to put Y queens on a board of Y by Y so that none attacks another.
⍝ A vector for each, of the columns of the queens row by row, from ⎕IO.
⍝       ↑queens 4
⍝ 2 4 1 3
⍝ 3 1 4 2
queens←{
    io←⎕IO
    ⎕IO←0
    n←⍵
    place←{
        n=≢⍵:,⊂⍵
        away←(≢⍵)-⍳≢⍵
        free←(⍳n)~⍵,(⍵+away),⍵-away
        ⊃,/(⊂0⍴⊂⍬),∇¨(⊂⍵),¨free
    }
    io+place ⍬
}
