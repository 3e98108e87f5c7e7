#!/usr/bin/env aplomb
⍝ Statistics by key: a CSV table, grouped by a column with ⌸.

⍝ ⎕CSV's third word gives the columns' types: 1 text, 2 number. The last says that a header stands first.
(table names)←⎕CSV 'examples/data/weather.csv' ''(1 1 2 2)1
⎕←'Columns and rows'
names,⊂≢table
(city month temp rain)←↓⍉table

avg←+/÷≢
round←{(⌊0.5+⍵×10)÷10}

⎕←'City: months, lowest, average and highest temperature'
city{⍺,(≢⍵),(⌊/⍵),(round avg ⍵),⌈/⍵}⌸temp

⎕←'Rain of the year, wettest first'
year←city{⍺,+/⍵}⌸rain
year[⍒year[;2];]

⎕←'The month with the most rain in each city'
city{⍺,⍵[⊃⍒⍵[;2];]}⌸month,⍪rain

⍝ A pivot table: cities down, months across. The data lie in that order, so ⍴ is enough.
⎕←'Temperatures, Jan Apr Jul Oct'
cities←∪city
pivot←(≢cities)12⍴temp
(⍪cities),pivot[;1 4 7 10]
⎕←'Which city is warmest in each month?'
↑{⍺,': ',⍵}/(∪month),⍪cities[⊃¨⍒¨↓⍉pivot]
