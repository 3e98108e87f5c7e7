⍝ The date of a day number, where 1 is the first of January 1900.
⍝ Year, month, day, hour, minute, second, millisecond. An array: a row for each number.
⍝       date 36525.5
⍝ 2000 1 1 12 0 0 0
date←{
    one←{
        whole time←{(⌊⍵)(⌊0.5+86400000×⍵-⌊⍵)}⍵
        d←693900+whole+time=86400000
        time←86400000|time
        era←⌊d÷146097
        in←146097|d
        year←⌊365÷⍨in-(⌊in÷1460)+(⌊in÷146096)-⌊in÷36524
        rest←in-(365×year)+(⌊year÷4)-⌊year÷100
        m←⌊(2+5×rest)÷153
        day←1+rest-⌊(2+153×m)÷5
        month←1+12|m+2
        ((month≤2)+year+400×era),month,day,0 60 60 1000⊤time
    }
    one⍤0⊢⍵
}
