⍝ A spanning tree of the graph X from the node Y, depth first.
⍝ For each node its parent, ¯1 for Y, ¯2 for what cannot be reached.
⍝       (2 3)(3)(4)(1)dfspan 1
⍝ ¯1 1 2 3
dfspan←{
    graph←,¨⍺
    visit←{
        tree node←⍵
        ¯2≠node⌷tree:tree
        tree[node]←⍺
        ⊃node{⍺⍺ visit ⍵ ⍺}/(⌽node⊃graph),⊂tree
    }
    ¯1 visit(¯2⊣¨⍺)⍵
}
