⍝ A spanning tree of the graph X from the node Y, breadth first.
⍝ For each node its parent, ¯1 for Y, ¯2 for what cannot be reached. A graph is a vector: for each
⍝ node the nodes that follow it.
⍝       (2 3)(4)(4)(1)(1)span 1
⍝ ¯1 1 1 2 ¯2
span←{
    graph←,¨⍺
    grow←{
        0=≢⍵:⍺
        tree to from←⍺(⊃,/graph[⍵])(⍵/⍨≢¨graph[⍵])
        new←(¯2=tree[to])∧≠to
        tree[new/to]←new/from
        tree ∇ new/to
    }
    (¯1@⍵⊢¯2⊣¨⍺)grow,⍵
}
