⍝ Base64, both ways: numbers 0 to 255 become text, text becomes numbers.
⍝       base64 77 97 110
⍝ TWFu
⍝       base64'TWFu'
⍝ 77 97 110
base64←{
    ⎕IO←0
    digits←⎕A,(⎕C ⎕A),⎕D,'+/'
    bits←{,⍉(⍺⍴2)⊤⍵}
    groups←{(⍺|-≢⍵){(⌊(≢⍵)÷⍺)⍺⍴⍵}⍵}
    0=≢⍵:⍵
    ' '=⊃0⍴⍵:{
        ⎕IO←0
        b←6 bits digits⍳⍵~'='
        2⊥⍉(⌊8÷⍨≢b)8⍴b
    }⍵
    b←8 bits 256|⍵
    n←⌈6÷⍨≢b
    text←digits[2⊥⍉n 6⍴b,6⍴0]
    text,(4|-n)⍴'='
}
