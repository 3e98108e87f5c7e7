⍝ Makes the option table: 100 000 European options as CSV and, column by column, as .npy.
⍝ Run it from the project's root: aplomb examples/data/make.apl
⎕RL←20061
n←100000
spot←(⌊500+2500×?n⍴0)÷100            ⍝ 5.00 … 29.99
strike←(⌊100+9900×?n⍴0)÷100          ⍝ 1.00 … 99.99
years←(⌊25+975×?n⍴0)÷100             ⍝ 0.25 … 9.99
spot ⎕NPY 'examples/data/spot.npy'
strike ⎕NPY 'examples/data/strike.npy'
years ⎕NPY 'examples/data/years.npy'
row←{(2⍕⍵[1]),',',(2⍕⍵[2]),',',2⍕⍵[3]}
lines←row¨↓⍉3 100000⍴spot,strike,years
(⊂(⊂'spot,strike,years'),lines)⎕NPUT 'examples/data/options.csv' 1
