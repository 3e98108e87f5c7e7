⍝ The number that a text of base-16 digits means.
⍝ Nested Y: each of its texts.
⍝       dec'ff'
⍝ 255
dec←{
    ⎕IO←0
    1<|≡⍵:∇¨⍵
    places←(⎕D,6↑⎕A)⍳1 ⎕C,⍵
    16∊places:⎕SIGNAL 11
    16⊥places
}
