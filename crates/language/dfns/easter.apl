⍝ Easter Sunday of the year Y in the Gregorian calendar, as a number of year, month and day.
⍝       easter 2024
⍝ 20240331
easter←{
    golden←1+19|⍵
    century←1+⌊⍵÷100
    skipped←¯12+⌊century×3÷4
    moved←¯5+⌊(5+8×century)÷25
    sunday←(⌊⍵×5÷4)-skipped+10
    epact←30|20+moved+(11×golden)-skipped
    epact+←(epact=24)∨(epact=25)∧golden>11
    full←44-epact
    full+←30×full<21
    day←full+7-7|sunday+full
    (10000×⍵)+day+300+69×day>31
}
