#!/usr/bin/env aplomb
⍝ The same numbers read by threads in blocks, in turns, and in strides.
⍝ Baskaran and others, ICS 2008, pages 225–234: section 3, table 1 and figures 1 and 2. 16 blocks of
⍝ T threads read M = 16 × N numbers; each thread adds its own.
⍝
⍝     block:   thread t of a block reads t×N÷T + 0 1 2 …
⍝     cyclic:  thread t reads t + T×0 1 2 …, so that neighbours read neighbours
⍝     stride:  thread t reads s×t
⍝     degree:  banks b serve a stride s in b ∨ s turns, in one where all read the same

block←{+/16 ⍺((≢⍵)÷16×⍺)⍴⍵}           ⍝ ⍺ threads
cyclic←{+/[2]16((≢⍵)÷16×⍺)⍺⍴⍵}
stride←{⍵[1+⍺×¯1+⍳⌊(≢⍵)÷⍺]}           ⍝ every ⍺th
degree←{1⌈(⍺∨⍵)×⍵≠0}                  ⍝ ⍺ banks

⍝ Check: all sums are one sum, and an odd stride meets no bank twice.
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
A←g 16×2048
⎕←'micro     ',⍕(+/A)(+/,32 block A)(+/,32 cyclic A)
⎕←'strides   ',⍕{+/⍵ stride A}¨1 2 4 8
⎕←'degrees   ',⍕16 degree ¯1+⍳17
