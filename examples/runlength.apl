#!/usr/bin/env aplomb
⍝ Run-length coding, both ways.

⍝ A run begins at the first item and wherever neighbours differ.
starts←{1,2≠/⍵}
encode←{(s/⍵)(2-⍨/⍸1,⍨s←starts ⍵)}    ⍝ items, and how often each
decode←{items counts←⍵ ⋄ counts/items}

text←'WWWWWWWWWWWWBWWWWWWWWWWWWBBBWWWWWWWWWWWWWWWWWWWWWWWWBWWWWWWWWWWWWWW'
⎕←'Items and counts'
encode text
⎕←'Back again: ',⍕text≡decode encode text

⍝ As text: 12W1B… Counts are the runs of digits, items what stands between them.
print←{items counts←⍵ ⋄ ∊(⍕¨counts),¨items}
parse←{digit←⍵∊⎕D ⋄ ((~digit)/⍵)(⍎¨digit⊆⍵)}
short←print encode text
⎕←short
⎕←'Back again: ',⍕text≡decode parse short
⎕←'Saved: ',(⍕(≢text)-≢short),' of ',(⍕≢text),' characters'

⍝ It works on any items. A picture is its rows one after the other.
picture←5 16⍴0 0 1 1 1 1 1 1 0 0 0 0 0 0 0 0
⎕←'A picture''s runs, and the picture made from them'
(items counts)←encode,picture
counts
'.#'[1+(⍴picture)⍴decode items counts]
