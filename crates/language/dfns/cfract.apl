⍝ The continued fraction of the real number Y.
⍝ Its terms, until they give Y within X, which is ⎕CT by default.
⍝       cfract 415÷93
⍝ 4 2 6 7
cfract←{
    ⍺←⎕CT
    tolerance←⍺
    x←⍵
    next←{
        terms rest←⍵
        terms,←⌊rest
        value←{⍺+÷⍵}/terms
        (|x-value)≤tolerance×1⌈|x:terms
        ∇ terms(÷rest-⌊rest)
    }
    next ⍬ x
}
