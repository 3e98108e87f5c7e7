⍝ The strongly connected components of the graph Y: for each node the number of its component.
⍝       scc(,2)(1 3)(,3)(,3)
⍝ 1 1 2 3
scc←{
    graph←,¨⍵
    n←≢graph
    reach←∨.∧⍨⍣≡↑(⊂⍳n)∊¨graph,¨⍳n
    both←↓reach∧⍉reach
    (∪both)⍳both
}
