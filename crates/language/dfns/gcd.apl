⍝ The greatest common divisor of the numbers X and Y.
⍝       12 gcd 18
⍝ 6
gcd←{⍺∨⍵}
