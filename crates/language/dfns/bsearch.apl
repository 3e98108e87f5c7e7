⍝ The least whole number of an interval for which the operand is true, by halving.
⍝ Y: the ends of the interval; the operand is false up to some number and true from there on. True
⍝ nowhere: one more than the upper end.
⍝       {1000≤⍵*2}bsearch 1 100
⍝ 32
bsearch←{
    low high←⍵
    low>high:low
    middle←⌊0.5×low+high
    ⍺⍺ middle:∇ low(middle-1)
    ∇(middle+1)high
}
