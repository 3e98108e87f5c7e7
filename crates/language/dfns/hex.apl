⍝ The whole numbers Y in base 16, as text.
⍝ X: the least number of digits.
⍝       hex 255
⍝ ff
⍝       4 hex 10 4096
⍝  000a  1000
hex←{
    ⎕IO←0
    ⍺←1
    digits←⎕D,6↑⎕C ⎕A
    least←⍺
    one←{
        ⎕IO←0
        d←16⊥⍣¯1⊢⍵
        digits[(-least⌈≢d)↑d]
    }
    0=≡⍵:one ⍵
    one¨⍵
}
