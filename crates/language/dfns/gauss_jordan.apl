⍝ The solution of linear equations by elimination with the largest pivot.
⍝ Y: the matrix, X: the right side. Without X, the inverse of Y.
⍝       5 10 gauss_jordan 2 2⍴2 1 1 3
⍝ 1 3
gauss_jordan←{
    ⎕IO←0
    n←≢⍵
    ⍺←∘.=⍨⍳n
    done←⊃{
        ⎕IO←0
        rows←⍵
        from←⍺↓|rows[;⍺]
        k←⍺+from⍳⌈/from
        rows[⍺ k;]←rows[k ⍺;]
        0=rows[⍺;⍺]:⎕SIGNAL 11
        pivot←rows[⍺;]÷rows[⍺;⍺]
        rows-←rows[;⍺]∘.×pivot
        rows[⍺;]←pivot
        rows
    }/(⌽⍳n),⊂⍵,⍺
    (⍴⍺)⍴n↓⍤1⊢done
}
