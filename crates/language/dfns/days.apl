⍝ The day number of a date, year month day: 1 is the first of January 1900.
⍝ Hours, minutes, seconds and milliseconds that follow are a fraction of the day. A matrix: each of
⍝ its rows.
⍝       days 1900 1 1
⍝ 1
⍝       days 2000 1 1 12
⍝ 36525.5
days←{
    one←{
        year month day←3↑⍵
        time←24 60 60 1000⊥4↑3↓⍵
        y←year-month≤2
        m←month+12×month≤2
        leap←(⌊y÷4)+(⌊y÷400)-⌊y÷100
        (time÷86400000)+day+(365×y)+leap+(⌊(¯457+153×m)÷5)-693901
    }
    one⍤1⊢⍵
}
