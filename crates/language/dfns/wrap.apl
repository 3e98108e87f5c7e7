⍝ The text Y as lines of at most X characters, broken at blanks; ⎕PW by default.
⍝ A word that is longer stands alone.
⍝       9 wrap'to be or not to be'
⍝  to be or  not to be
wrap←{
    ⍺←⎕PW
    width←⍺
    add←{
        0=≢⍺:,⊂⍵
        width≥1+(≢⊃⌽⍺)+≢⍵:(¯1↓⍺),⊂(⊃⌽⍺),' ',⍵
        ⍺,⊂⍵
    }
    ⊃add⍨/⌽(⊂⍬),(' '≠⍵)⊆⍵
}
