⍝ A scan by an associative function, item by item from the left.
⍝       +ascan 1 2 3 4
⍝ 1 3 6 10
ascan←{
    f←⍺⍺
    0=≢⍵:⍵
    ⌽⊃{(⊂(⊃⍵)f ⍺),⍵}/(⌽1↓⍵),⊂1↑⍵
}
