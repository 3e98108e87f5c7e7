#!/usr/bin/env aplomb
⍝ Counts the words of a text.

text←⊃⎕NGET 'examples/data/alice.txt'
⎕←'Characters, lines'
(≢text)(+/text=⎕UCS 10)

⍝ A word is a run of letters: ⊆ cuts where its left argument is 0.
upper←1 ⎕C text
words←¯1 ⎕C¨(upper∊⎕A)⊆upper
⎕←'Words, different words'
(≢words)(≢∪words)

⍝ ⌸ gives each different word and the places where it stands.
(names counts)←↓⍉{⍺,≢⍵}⌸words
order←⍒counts
⎕←'The ten most frequent'
10↑(⍪counts[order]),⍪names[order]

⎕←'How long are they? Length, number of words'
lengths←≢¨words
table←{⍺,≢⍵}⌸lengths
table[⍋table;]

⎕←'The longest'
∪words/⍨lengths=⌈/lengths
