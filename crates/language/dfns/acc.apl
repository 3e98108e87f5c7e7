⍝ A fold from the right with all its steps: the operand between Y and each of what is left of it.
⍝       +acc 1 2 3 4
⍝ 10 9 7 4
acc←{
    f←⍺⍺
    0=≢⍵:⍵
    ⊃{(⊂⍺ f⊃⍵),⍵}/(¯1↓⍵),⊂¯1↑⍵
}
