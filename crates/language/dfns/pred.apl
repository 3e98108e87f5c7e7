⍝ Folds of parts of the vector Y, or of each row of Y.
⍝ X: how many items each part has.
⍝       2 3 1 +pred 1 2 3 4 5 6
⍝ 3 12 6
pred←{
    f←⍺⍺
    row←{
        all←⍵
        ⍺{f/⍺↑⍵↓all}¨¯1↓0,+\⍺
    }
    ⍺ row⍤1⊢⍵
}
