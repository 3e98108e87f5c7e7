⍝ The next generation of Conway's Life: a boolean matrix whose edges meet.
⍝       life 5 5⍴0 0 0 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 0 0 0
⍝ 0 0 0 0 0
⍝ 0 0 0 0 0
⍝ 0 1 1 1 0
⍝ 0 0 0 0 0
⍝ 0 0 0 0 0
life←{
    rows←(1⊖⍵)+⍵+¯1⊖⍵
    near←(1⌽rows)+rows+¯1⌽rows
    (near=3)∨⍵∧near=4
}
