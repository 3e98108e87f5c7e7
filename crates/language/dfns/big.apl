⍝ Arithmetic of whole numbers of any length, written as text.
⍝ The operand is one of + - ×. X and Y: texts of digits, perhaps with ¯ in front.
⍝       '99999999999999999999'+big'1'
⍝ 100000000000000000000
⍝       '1'-big'1000000000000000000'
⍝ ¯999999999999999999
⍝       '123456789123456789'×big'¯11'
⍝ ¯1358024680358024679
big←{
    base←1000000
    parts←{⌽⍎¨↓((6÷⍨≢t)6)⍴t←((6|-≢⍵)⍴'0'),⍵}
    read←{
        below←'¯'=⊃⍵
        text←below↓⍵
        (0=≢text)∨~∧/text∊'0123456789':⎕SIGNAL 11
        (1-2×below)(parts text)
    }
    show←{
        sign some←⍵
        text←∊{¯6↑'000000',⍕⍵}¨⌽some
        text←(∨\text≠'0')/text
        0=≢text:,'0'
        ((sign<0)⍴'¯'),text
    }
    carry←{
        up←⌊⍵÷base
        ∧/0=up:⍵
        ∇(0,up)+(⍵-base×up),0
    }
    fit←{((≢⍺)⌈≢⍵)↑¨⍺ ⍵}
    sum←{
        s x←⍺
        t y←⍵
        x y←x fit y
        s=t:s(carry x+y)
        larger←⊃(d≠0)/d←⌽x-y
        larger<0:t(carry y-x)
        s(carry x-y)
    }
    product←{
        s x←⍺
        t y←⍵
        far←+\0,(¯1+≢y)⍴1
        (s×t)(carry⊃+/far{((≢x)+≢y)↑(⍺⍴0),⍵×x}¨y)
    }
    x y←read¨⍕¨⍺ ⍵
    probe←7 ⍺⍺ 3
    probe=10:show x sum y
    probe=4:show x sum(-⊃y)(⊃⌽y)
    probe=21:show x product y
    ⎕SIGNAL 11
}
