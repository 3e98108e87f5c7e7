⍝ The text matrix Y in a frame; a vector is one row.
⍝       box'abc'
⍝ ┌───┐
⍝ │abc│
⍝ └───┘
box←{
    text←{2=≢⍴⍵:⍵ ⋄ 1(≢,⍵)⍴⍵}⍕⍵
    line←(⊢/⍴text)⍴'─'
    ('┌',line,'┐')⍪('│',text,'│')⍪'└',line,'┘'
}
