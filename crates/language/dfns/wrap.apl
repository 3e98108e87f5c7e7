⍝ The text Y as lines of at most X characters, broken at blanks; ⎕PW by default.
⍝ A word that is longer stands alone.
⍝       9 wrap'to be or not to be'
⍝  to be or  not to be
wrap←{
    ⍺←⎕PW
    width←⍺
    parts←(' '≠⍵)⊆⍵
    ends←+\1+≢¨parts
    firsts←{
        ⍵≥≢parts:⍺
        gone←⊃⌽0,⍵↑ends
        fit←+/(width+1)≥(⍵↓ends)-gone
        (⍺,⍵)∇ ⍵+1⌈fit
    }
    begin←(⍳≢parts)∊⎕IO+⍬ firsts 0
    {1↓∊' ',¨⍵}¨begin⊂parts
}
