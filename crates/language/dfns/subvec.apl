⍝ Is X a subvector of Y: the items of X, in their order, with others of Y between them?
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
