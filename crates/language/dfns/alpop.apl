⍝ The association list X without the first of its keys that is Y.
⍝       ('babc'(7 1 2 3))alpop'b'
⍝  abc  1 2 3
alpop←{
    keys values←⍺
    keep←(keys⍳⊂⍵)≠⍳≢keys
    (keep/keys)(keep/values)
}
