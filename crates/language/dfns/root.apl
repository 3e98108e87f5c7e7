⍝ The X-th root of Y; the square root by default.
⍝       root 2.25
⍝ 1.5
⍝       3 root 27
⍝ 3
root←{
    ⍺←2
    ⍵*÷⍺
}
