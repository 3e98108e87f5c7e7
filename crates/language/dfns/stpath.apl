⍝ The way from the root of the spanning tree X to the node Y, both included; empty if there is none.
⍝       ¯1 1 1 2 ¯2 stpath 4
⍝ 1 2 4
stpath←{
    tree←⍺
    ⍬{
        ⍵=¯1:⍺
        ⍵=¯2:⍬
        (⍵,⍺)∇ ⍵⌷tree
    }⍵
}
