⍝ The association list X with another key in front, that hides an equal one.
⍝ Y: the key and its value.
⍝       ('abc'(1 2 3))alpush'b' 7
⍝  babc  7 1 2 3
alpush←{
    keys values←⍺
    key value←⍵
    ((⊂key),keys)((⊂value),values)
}
