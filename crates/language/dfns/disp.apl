⍝ The array Y as a picture with lines between the items of each array that holds arrays.
⍝       disp 1 'ab'(2 2⍴⍳4)
⍝ ┌─┬──┬───┐
⍝ │1│ab│1 2│
⍝ │ │  │3 4│
⍝ └─┴──┴───┘
disp←{
    flat←{
        2>≢⍴⍵:1(≢,⍵)⍴⍵
        2=≢⍴⍵:⍵
        gap←((≢⍴⍵)-2)(⊢/⍴⍵)⍴' '
        ⊃{⍺⍪gap⍪⍵}/∇¨⊂⍤¯1⊢⍵
    }
    stack←{
        0=≢⍴⍵:⊃⍵
        gap←((≢⍴⍵)-1)(⊢/⍴⊃⍵)⍴' '
        ⊃{⍺⍪gap⍪⍵}/∇¨⊂⍤¯1⊢⍵
    }
    box←{
        table←((×/¯1↓⍴⍵),⊢/⍴⍵)⍴show¨⍵
        tall←⌈/≢¨table
        wide←⌈⌿(⊢/⍴)¨table
        edge←{(⊃⍺),(1↓∊(⊃1↓⍺),¨wide⍴¨'─'),⊃⌽⍺}
        top between bottom←'┌┬┐' '├┼┤' '└┴┘'edge¨0
        lines←(,/'│',¨(tall∘.,wide)↑¨table),¨'│'
        planes←({0=≢⍵:,1 ⋄ ⍵}¯1↓⍴⍵)⍴lines
        stack{⊂top⍪(⊃{⍺⍪between⍪⍵}/⍵)⍪bottom}⍤1⊢planes
    }
    show←{
        1≥|≡⍵:flat⍕⍵
        0∊⍴⍵:flat⍕⍵
        box{0=≢⍴⍵:,⍵ ⋄ ⍵}⍵
    }
    show ⍵
}
