⍝ A choice of functions: ⍺⍺ of Y if X is true, else ⍵⍵ of Y.
⍝       1(×else÷)4
⍝ 1
⍝       0(×else÷)4
⍝ 0.25
else←{
    ⍺:⍺⍺ ⍵
    ⍵⍵ ⍵
}
