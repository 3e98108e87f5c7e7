⍝ The value of the key Y in the association list X, a pair: keys and their values.
⍝ X may have the key twice: the first counts.
⍝       ('abc'(1 2 3))alget'b'
⍝ 2
alget←{
    keys values←⍺
    (keys⍳⊂⍵)⊃values
}
