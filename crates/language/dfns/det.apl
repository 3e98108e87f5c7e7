⍝ The determinant of the square matrix Y, by elimination with the largest pivot.
⍝       det 2 2⍴2 3 1 4
⍝ 5
det←{
    2≠≢⍴⍵:⎕SIGNAL 4
    ≠/⍴⍵:⎕SIGNAL 5
    1{
        ⎕IO←0
        0=≢⍵:⍺
        column←|⍵[;0]
        k←column⍳⌈/column
        0=k⌷column:0
        pivot←⍵[k;]
        rest←(k≠⍳≢⍵)⌿⍵
        rest←0 1↓rest-rest[;0]∘.×pivot÷⊃pivot
        (⍺×(⊃pivot)×¯1*k)∇ rest
    }⍵
}
