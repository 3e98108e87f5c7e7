⍝ The text where every occurrence of one text in another is replaced.
⍝ Y: text, what is sought, what takes its place. Occurrences are taken from the left and do not
⍝ overlap.
⍝       ss'banana' 'an' '<>'
⍝ b<><>a
ss←{
    ⎕IO←0
    text old new←,¨⍵
    0=≢old:text
    free←{0=≢⍵:⍺ ⋄ (⍺,⊃⍵)∇(⍵≥(≢old)+⊃⍵)/⍵}
    from←⍬ free⍸old⍷text
    0=≢from:text
    pieces←((⍳≢text)∊from)⊂text
    ((⊃from)↑text),∊new∘,¨(≢old)↓¨pieces
}
