⍝ Whether the items of X stand in Y, in their order, with others between them.
⍝       'ace'subvec'abcde'
⍝ 1
⍝       'aec'subvec'abcde'
⍝ 0
subvec←{
    ⎕IO←0
    0=≢⍺:1
    k←⍵⍳⊂⍣(0<≢⍴⊃⍺)⊃⍺
    k=≢⍵:0
    (1↓⍺)∇(k+1)↓⍵
}
