⍝ The cheapest assignment for the matrix of costs Y, by the Hungarian method.
⍝ A boolean matrix with a 1 in each row and at most one in each column. Y has no more rows than
⍝ columns.
⍝       assign 3 3⍴4 1 3 2 0 5 3 2 2
⍝ 0 1 0
⍝ 1 0 0
⍝ 0 0 1
assign←{
    ⎕IO←1
    costs←⍵
    n m←⍴costs
    far←⌊/⍬
    rowPrice←n⍴0
    colPrice←(m+1)⍴0
    owner←(m+1)⍴0
    place←{
        ⎕IO←1
        owner[1]←⍵
        least←(m+1)⍴far
        used←(m+1)⍴0
        way←(m+1)⍴1
        last←{
            used[⍵]←1
            row←owner[⍵]
            open←~used
            cost←0,costs[row;]-rowPrice[row]+1↓colPrice
            less←open∧cost<least
            (less/least)←less/cost
            (less/way)←⍵
            delta←⌊/open/least
            next←⊃⍸open∧least=delta
            rowPrice[owner[⍸used]]+←delta
            colPrice[⍸used]-←delta
            least[⍸open]-←delta
            0=owner[next]:next
            ∇ next
        }1
        back←{
            ⍵=1:0
            from←way[⍵]
            owner[⍵]←owner[from]
            ∇ from
        }last
        0
    }
    _←place¨⍳n
    (⍳n)∘.=1↓owner
}
