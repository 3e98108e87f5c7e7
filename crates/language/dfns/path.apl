⍝ A shortest way in the graph X between two nodes, both included; empty if there is none.
⍝       (2 3)(4)(4)(1)(1)path 3 2
⍝ 3 4 1 2
path←{
    graph←,¨⍺
    from to←⍵
    grow←{
        0=≢⍵:⍺
        tree next prior←⍺(⊃,/graph[⍵])(⍵/⍨≢¨graph[⍵])
        new←(¯2=tree[next])∧≠next
        tree[new/next]←new/prior
        to∊⍵:tree
        tree ∇ new/next
    }
    tree←(¯1@from⊢¯2⊣¨⍺)grow,from
    ⍬{
        ⍵=¯1:⍺
        ⍵=¯2:⍬
        (⍵,⍺)∇ ⍵⌷tree
    }to
}
