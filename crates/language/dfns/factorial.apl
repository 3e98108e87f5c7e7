⍝ The product of the numbers 1 to Y.
⍝       factorial 6
⍝ 720
factorial←{
    ⍺←1
    ⍵≤1:⍺
    (⍺×⍵)∇ ⍵-1
}
