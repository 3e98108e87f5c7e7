#!/usr/bin/env aplomb
⍝ Least squares with ⌹: the column weights that come nearest to the data.

height←147 150 152 155 157 160 163 165 168 170 173 175 178 180 183       ⍝ cm
weight←52.21 53.12 54.48 55.84 57.2 58.57 59.93 61.29 63.11 64.47 66.28 68.1 69.92 72.19 74.46

⍝ weight ≈ a + b × height: the columns are 1 and height.
X←1,⍪height
(a b)←weight⌹X
⎕←'A line:',(3⍕a),' + ',(1↓4⍕b),' × height'

⍝ weight ≈ a + b × m + c × m²: a column for each power; metres keep the columns of one size.
powers←(height÷100)∘.*0 1 2
coef←weight⌹powers
⎕←'A parabola''s weights:',2⍕coef

⍝ How good is a fit? r² is the part of the variance that it explains.
avg←+/÷≢
r2←{1-(+/2*⍨weight-⍵)÷+/2*⍨weight-avg weight}
⎕←'r² of the line and of the parabola:',5⍕(r2 X+.×a b)(r2 powers+.×coef)

⎕←'What the parabola leaves over, in grams'
⌊0.5+1000×weight-powers+.×coef

⍝ With as many columns as rows ⌹ solves exactly: 2x+y=5, x-3y=¯8.
⎕←'x and y'
5 ¯8⌹2 2⍴2 1 1 ¯3
