⍝ The association list X with a value for a key.
⍝ Y: the key and its value.
⍝       ('abc'(1 2 3))alset'b' 7
⍝  abc  1 7 3
alset←{
    keys values←⍺
    key value←⍵
    at←keys⍳⊂key
    at<⎕IO+≢keys:keys((⊂value)@at⊢values)
    (keys,⊂key)(values,⊂value)
}
