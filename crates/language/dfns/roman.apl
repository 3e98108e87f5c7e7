⍝ Roman numerals, both ways: a number becomes text, text a number.
⍝       roman 1994
⍝ MCMXCIV
⍝       roman'MCMXCIV'
⍝ 1994
roman←{
    ⎕IO←0
    ' '=⊃0⍴⍵:{
        n←1 5 10 50 100 500 1000['IVXLCDM'⍳1 ⎕C,⍵]
        +/n×¯1*n<1↓n,0
    }⍵
    parts←'M' 'CM' 'D' 'CD' 'C' 'XC' 'L' 'XL' 'X' 'IX' 'V' 'IV' 'I'
    worth←1000 900 500 400 100 90 50 40 10 9 5 4 1
    ''{
        ⍵=0:⍺
        k←(worth≤⍵)⍳1
        (⍺,k⊃parts)∇ ⍵-worth[k]
    }⍵
}
