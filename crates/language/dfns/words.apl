⍝ The words of the text Y: its runs of characters that are no blanks.
⍝ X may name other separators.
⍝       words'to be  or'
⍝  to  be  or
words←{
    ⍺←' '
    (~⍵∊⍺)⊆⍵
}
