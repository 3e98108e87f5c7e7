#!/usr/bin/env aplomb
⍝ The Mandelbrot set in characters. All points move at once: an array of complex numbers.

steps←30
⍝ How many steps of z←c+z×z each point c stays within 2. One that has left stays where it is,
⍝ so that nothing grows beyond all bounds.
escape←{
    c←⍵
    count←0×|c
    move←{in←2≥|⍵ ⋄ count+←in ⋄ ⍵+in×(c+⍵×⍵)-⍵}
    _←move⍣steps⊢c
    count
}

re←¯2.1+(2.8÷71)×0,⍳71
im←1.15-(2.3÷28)×0,⍳28
c←(0J1×im)∘.+re
count←escape c

' .:-=+*#%@'[1+⌊count×9÷steps]
⎕←'points that never left: ',⍕+/,count=steps

⍝ The same point by point: a state x y n, and an end of its own for each. Still one loop in one launch,
⍝ in which nobody waits for the slowest.
alone←{
    (a b)←⍵
    step←{(x y n)←⍵ ⋄ (a+(x×x)-y×y)(b+2×x×y)(n+1)}
    left←{(x y n)←⍺ ⋄ (n>steps)∨4<(x×x)+y×y}
    ¯1+3⊃step⍣left⊢0 0 0
}
points←↓⍉↑(,9○c)(,11○c)
⎕←'point by point the same: ',⍕(,count)≡steps⌊alone¨points
