#!/usr/bin/env aplomb
⍝ Gauss: determinants and linear equations by elimination, and with ⌹.

⍝ The row with the greatest first number is the pivot. Its multiples clear the first column of the others;
⍝ what is left is a smaller determinant. Moving row p to the top takes p-1 exchanges.
det←{
    0=≢⍵:1
    p←⊃⍒|⍵[;1]
    top←⍵[p;]
    0=⊃top:0
    rest←(p≠⍳≢⍵)⌿⍵
    (⊃top)×(¯1*p-1)×∇0 1↓rest-(rest[;1]÷⊃top)∘.×top
}
A←3 3⍴2 1 ¯1 ¯3 ¯1 2 ¯2 1 2
A
⎕←'Its determinant: ',⍕det A
⎕←'A singular matrix''s: ',⍕det 2 2⍴1 2 2 4

⍝ Gauss–Jordan on [A b]: column k becomes 0 1 0 … for each k, and what is left of b is the solution.
solve←{
    clear←{
        m←⍵
        p←⍺+¯1+⊃⍒|(⍺-1)↓m[;⍺]          ⍝ the pivot, among the rows not used yet
        m[⍺ p;]←m[p ⍺;]
        top←m[⍺;]÷m[⍺;⍺]
        m←m-m[;⍺]∘.×top
        m[⍺;]←top
        m
    }
    (⊃clear/(⌽⍳≢⍵),⊂⍵,⍺)[;1+≢⍵]
}
b←8 ¯11 ¯3
⎕←'The solution of A x = b, and A x'
⊢x←b solve A
A+.×x
near←{1E¯12>⌈/|,⍺-⍵}
⎕←'⌹ finds the same: ',⍕x near b⌹A
⎕←'A times its inverse is the identity: ',⍕(A+.×⌹A)near∘.=⍨⍳3

⍝ A greater one: the Hilbert matrix, nearly singular although no row is another''s multiple.
hilbert←{÷¯1+∘.+⍨⍳⍵}
⎕←'Determinants of the Hilbert matrices of 1 to 6'
⍪det∘hilbert¨⍳6

⍝ An error is caught where it is expected: guards name the events they catch.
try←{11::'no single solution' ⋄ ⍺ solve ⍵}
⎕←'With rows that depend on each other: ',1 3 try 2 2⍴1 2 2 4
