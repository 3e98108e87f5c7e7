#!/usr/bin/env aplomb
⍝ Breaks a text into lines and sets them left, right, centred and justified.

text←⊃⎕NGET 'examples/data/alice.txt'
words←(~text∊' ',⎕UCS 10)⊆text

⍝ Greedy: a word goes into the last line if it fits, else it begins a new one.
wrap←{
    width←⍺
    add←{
        line←⊃⌽⍵
        width<(≢line)+1+≢⍺:⍵,⊂⍺
        (¯1↓⍵),⊂line,' ',⍺
    }
    ⊃add/(⌽1↓⍵),⊂1↑⍵
}
lines←38 wrap 42↑words

⎕←'Left'
left←↑lines
left
⎕←'Right'
blanks←+/∧\⌽left=' '
(-blanks)⌽left
⎕←'Centred'
(-⌊blanks÷2)⌽left

⍝ Justified: the blanks that are missing are dealt out to the gaps from the left; the last line stays.
justify←{
    gaps←⍸⍵=' '
    more←⍺-≢⍵
    0∊more,≢gaps:⍵
    each←(⌊more÷≢gaps)+(≢gaps)↑(((≢gaps)|more)⍴1)
    ⍵/⍨(1+each)@gaps⊢(≢⍵)⍴1
}
⎕←'Justified'
↑(38∘justify¨¯1↓lines),¯1↑lines
