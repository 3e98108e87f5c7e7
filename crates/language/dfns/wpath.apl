⍝ A cheapest way in the weighted graph X between two nodes, both included.
⍝ X is a matrix of two rows: the nodes that follow each node, and the costs of going there. The
⍝ result is empty if there is no way.
⍝       ((2 3)(,3)⍬,[0.5](1 5)(,2)⍬)wpath 1 3
⍝ 1 2 3
wpath←{
    graph costs←↓,¨⍺
    from to←⍵
    far←⌊/⍬
    step←{
        tree cost done←⍵
        open←cost⌈far×done
        least←⌊/open
        least=far:tree
        at←open⍳least
        at=to:tree
        next new←at⊃¨graph costs
        new+←least
        less←new<cost[next]
        ∇(at@(less/next)⊢tree)((less/new)@(less/next)⊢cost)(1@at⊢done)
    }
    tree←step(¯1@from⊢¯2⊣¨graph)(0@from⊢far⊣¨graph)(0⊣¨graph)
    ⍬{
        ⍵=¯1:⍺
        ⍵=¯2:⍬
        (⍵,⍺)∇ ⍵⌷tree
    }to
}
