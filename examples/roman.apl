#!/usr/bin/env aplomb
⍝ Roman numerals, both ways.

values←1000 900 500 400 100 90 50 40 10 9 5 4 1
marks←'M' 'CM' 'D' 'CD' 'C' 'XC' 'L' 'XL' 'X' 'IX' 'V' 'IV' 'I'

⍝ The greatest mark that fits, then the rest.
roman←{⍵=0:'' ⋄ k←⊃⍸values≤⍵ ⋄ (k⊃marks),∇⍵-values[k]}

⍝ A letter counts against the number if a greater one follows.
arabic←{n←(1 5 10 50 100 500 1000)['IVXLCDM'⍳⍵] ⋄ +/n×¯1*n<1↓n,0}

years←4 9 14 40 90 400 1888 1954 1999 2026
⎕←'Years'
(⍪years),⍪roman¨years

⎕←'And back: ',⍕years≡arabic¨roman¨years
⎕←'All of 1 to 3999 come back: ',⍕(⍳3999)≡{arabic roman ⍵}¨⍳3999

lengths←{≢roman ⍵}¨⍳1000
⎕←'The longest up to 1000: ',roman lengths⍳⌈/lengths
⎕←'MCMLXXXIV + XVI = ',roman(arabic'MCMLXXXIV')+arabic'XVI'
