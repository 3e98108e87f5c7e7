⍝ The items of Y in columns, as many as fit.
⍝ X: blanks between columns and width of a line; 1 and ⎕PW by default. Items read down the columns.
⍝       1 8 cols'one' 'two' 'three' 'four'
⍝ one
⍝ two
⍝ three
⍝ four
cols←{
    ⍺←⍬
    gap width←2↑⍺,(≢⍺)↓1 ⎕PW
    texts←⍕¨⍵
    wide←gap+⌈/0,≢¨texts
    across←1⌈⌊(width+gap)÷wide
    down←⌈across÷⍨≢texts
    across←⌈(≢texts)÷1⌈down
    grid←⍉across down⍴(across×down)↑wide↑¨texts
    (-gap)↓⍤1⊢(down,across×wide)⍴∊grid
}
