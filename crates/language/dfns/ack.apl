⍝ Ackermann's function of two whole numbers.
⍝       2 ack 3
⍝ 9
ack←{
    ⍺=0:⍵+1
    ⍵=0:(⍺-1)∇ 1
    (⍺-1)∇ ⍺ ∇ ⍵-1
}
