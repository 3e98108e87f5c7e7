⍝ Numbers from X to Y, both ends included: 2 to 5; by the step of two numbers: 1 3 to 9.
to←{
    ⎕IO←0
    first next←2↑⍺,(⊃⍺)+1-2×⍵<⊃⍺
    step←next-first
    first+step×⍳0⌈1+⌊(⍵-first)÷step+step=0
}
