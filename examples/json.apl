#!/usr/bin/env aplomb
⍝ JSON in and out.

⍝ Arrays become vectors, texts become text, numbers numbers.
text←'[["Ada",36,["algebra","engines"]],["Grace",85,["compilers"]],["Alan",41,["machines","ciphers","plants"]]]'
people←⎕JSON text
⎕←'People'
↑people
(names ages fields)←↓⍉↑people
⎕←'Mean age: ',⍕(+/÷≢)ages
⎕←'Has most fields: ',names⊃⍨⊃⍒≢¨fields

⍝ Out: 1 ⎕JSON makes text. The oldest first, with the number of fields.
⎕←'Sorted'
⊢out←1 ⎕JSON↓(names,⍪≢¨fields)[⍒ages;]
⎕←'What comes back is what went out: ',⍕(⎕JSON out)≡↓(names,⍪≢¨fields)[⍒ages;]

⍝ Objects as a table, a row each: depth, name, value, type (1 object, 2 array, 3 number, 4 text).
order←'{"id":17,"lines":[{"item":"tea","price":4.5},{"item":"cups","price":12.25}]}'
table←(⎕JSON⍠'Format' 'M')order
named←{table[;3]/⍨table[;2]≡¨⊂⍵}
⎕←'An order: its items, their prices, the sum'
named'item'
named'price'
+/named'price'
