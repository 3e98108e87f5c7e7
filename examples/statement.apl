#!/usr/bin/env aplomb
⍝ A bank statement: numbers into columns of text.

days←3 3 7 12 12 15 21 28
what←'rent' 'groceries' 'salary' 'books' 'groceries' 'power' 'groceries' 'insurance'
amounts←¯840 ¯62.35 2450.5 ¯41.9 ¯88.07 ¯64.2 ¯1203.4 ¯310
start←512.08

⍝ An amount as text: two places, a blank between thousands, the sign behind.
money←{
    cents←⌊0.5+100×|⍵
    digits←⌽⍕⌊cents÷100
    whole←⌽1↓∊' ',¨((≢digits)⍴1 0 0)⊂digits
    whole,'.',(¯2↑'0',⍕100|cents),'+-'[1+⍵<0]
}

⍝ A column: its heading and its texts in one width, at the left or (¯1) at the right.
column←{texts←(⊂⍺),⍵ ⋄ ⍺⍺=1:↑texts ⋄ ↑(-⌈/≢¨texts)↑¨texts}
beside←{⍺,' ',' ',⍵}

balance←start++\amounts
table←('day'(¯1 column)⍕¨days)beside('what'(1 column)what)
table←table beside('amount'(¯1 column)money¨amounts)beside'balance'(¯1 column)money¨balance
line←'─'⍴⍨2⊃⍴table

table[1;]
⎕←line
1↓table
⎕←line
⎕←'in ',(money+/0⌈amounts),'   out ',(money+/0⌊amounts),'   at the end ',money⊃⌽balance

⍝ The worst moment: a balance below nothing is marked.
low←⊃⍋balance
⎕←'lowest on March ',(⍕days[low]),': ',money balance[low]
⎕←'days in debt: ',⍕∪days/⍨balance<0
