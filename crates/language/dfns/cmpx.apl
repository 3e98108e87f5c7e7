⍝ How long the expressions Y take, a text or several.
⍝ A line for each: the time of one run in seconds and how it compares with the first. An asterisk:
⍝ its value is another than the first's.
⍝       ≢cmpx'⍳9' '⍳10'
⍝ 2
cmpx←{
    ⍙run←{
        ⍺=0:0
        _←⍎⍵
        (⍺-1)∇ ⍵
    }
    ⍙time←{
        from←3⌷⎕AI
        _←⍺ ⍙run ⍵
        took←(3⌷⎕AI)-from
        took≥50:took÷1000×⍺
        (⍺×2)∇ ⍵
    }
    ⍙text←{(' '≠t)/t←¯2⍕⍵}
    ⍙all←⊆⍵
    ⍙took←1 ⍙time¨⍙all
    1=≢⍙all:⍙text⊃⍙took
    ⍙values←⍎¨⍙all
    ⍙marks←' *'[⎕IO+(⊂⊃⍙values)≢¨⍙values]
    ⍙percent←{('+-'/⍨1 ¯1=×⍵),(⍕|⍵),'% '}¨⌊0.5+100×¯1+⍙took÷⊃⍙took
    ⍙percent←⌽↑⌽¨⍙percent
    ⍙bars←'⎕'⍴⍨¨⌊0.5+40×⍙took÷⌈/⍙took
    ⍙marks,' ',(↑⍙all),(↑(⊂' → '),¨(⍙text¨⍙took),¨⊂' | '),⍙percent,↑⍙bars
}
