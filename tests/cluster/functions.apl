⍝ Functions whose arguments no machine has to hold: one for each way in which work is cut.
map←{(0.5×⍵)+÷1+⍵*2}                  ⍝ a block by itself
sum←{+/⍵×1-⍵}                         ⍝ a block, then a tree
rmse←{((+/(⍺-⍵)*2)÷≢⍵)*0.5}
window←{+/((1↓¯1↓⍵)×2)-(2↓⍵)+¯2↓⍵}    ⍝ a block and an item of the next
scan←{⌈/(+\⍵)-0.5×⍳≢⍵}                ⍝ blocks, then what stands before each
product←{+/+/⍺+.×⍵}                   ⍝ pairs of blocks
