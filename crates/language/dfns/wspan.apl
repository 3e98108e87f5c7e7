⍝ A spanning tree of least ways from the node Y in the weighted graph X.
⍝ X is a matrix of two rows: the nodes that follow each node, and the costs of going there. The
⍝ result has for each node its parent, ¯1 for Y, ¯2 for what cannot be reached.
⍝       ((2 3)(,3)(,1),[0.5](1 5)(,2)(,1))wspan 1
⍝ ¯1 1 2
wspan←{
    graph costs←↓,¨⍺
    far←⌊/⍬
    step←{
        tree cost done←⍵
        open←cost⌈far×done
        least←⌊/open
        least=far:tree
        at←open⍳least
        to new←at⊃¨graph costs
        new+←least
        less←new<cost[to]
        ∇(at@(less/to)⊢tree)((less/new)@(less/to)⊢cost)(1@at⊢done)
    }
    step(¯1@⍵⊢¯2⊣¨graph)(0@⍵⊢far⊣¨graph)(0⊣¨graph)
}
