⍝ A fold from the left: X, or the first item of Y, with each item of Y in turn.
⍝       -foldl 10 1 2
⍝ 7
⍝       100 -foldl 10 1 2
⍝ 87
foldl←{
    f←⍺⍺
    0=⎕NC'⍺':⊃f⍨/⌽⍵
    ⊃f⍨/⌽(⊂⍺),⍵
}
