⍝ The rows of the text matrix Y with their words spread so that both edges are straight.
⍝ X: the width, that of Y by default. Rows of one word, or none, stay.
⍝       just↑'a b c' 'd ee f g'
⍝ a   b  c
⍝ d ee f g
just←{
    ⍺←⊢/⍴⍵
    width←⍺
    row←{
        parts←(' '≠⍵)⊆⍵
        gaps←¯1+≢parts
        gaps≤0:width↑(∨\' '≠⍵)/⍵
        free←width-+/≢¨parts
        free<gaps:width↑1↓∊' ',¨parts
        extra←(gaps⍴⌊free÷gaps)+(⌽⍳gaps)>gaps-gaps|free
        ∊parts,¨(extra,0)⍴¨' '
    }
    row⍤1⊢⍵
}
