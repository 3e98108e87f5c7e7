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
