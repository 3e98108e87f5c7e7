⍝ The numbers, or characters, from X to Y, both ends included, up or down.
⍝ A second number in Y is the step. Without X, ⍳Y.
⍝       10 iotag 6
⍝ 10 9 8 7 6
⍝       1 iotag 8 3
⍝ 1 4 7
⍝       'A'iotag'F'
⍝ ABCDEF
iotag←{
    0=⎕NC'⍺':⍳⍵
    ' '=⊃0⍴⊂⍺:⎕UCS(⎕UCS ⍺)∇(⎕UCS⊃⍵),1↓⍵
    to step←2↑⍵,1
    step←(|step)××to-⍺
    0=to-⍺:,⍺
    ⍺+step×(⍳1+⌊(to-⍺)÷step)-⎕IO
}
