#!/usr/bin/env aplomb
⍝ A scene of our own with the corners that seeds/acl-corners.apl finds in it, as corners.png.
⍝ Run it from the project's root; a word behind it is the folder that gets the picture.

own←{t←⊃⎕NGET ⍵ ⋄ t←(t⍳⎕UCS 10)↓t ⋄ (¯1+⊃⍸'⍝ Check'⍷t)↑t}
⍎own'examples/seeds/acl-corners.apl'

⍝ A chessboard turned by 17 degrees on a disc, a ring and a bar, with a little noise.
⎕RL←2006
n←240
y←(⍳n)∘.+n⍴0 ⋄ x←⍉y
at←{(((y-⍺)*2)+(x-⍵)*2)*0.5}          ⍝ how far from row ⍺ and column ⍵
(sin cos)←1 2○○17÷180
u←(y×cos)-x×sin ⋄ v←(y×sin)+x×cos
board←2|(⌊u÷19)+⌊v÷19
disc←78>96 at 98
ring←4>|34-184 at 186
bar←(8>|v-262)∧40>|u-120
scene←0.5+(0.7×disc×board-0.5)+0.4×ring-bar
scene←0⌈1⌊scene+0.03×¯0.5+?n n⍴0

⍝ A corner is where nothing within four pixels is more of a corner; a cross marks it.
K←corners scene
most←{wide←4 wider ⍵ ⋄ n←≢⍵ ⋄ ⊃⌈/{n↑⍵↓wide}¨¯1+⍳9}
peak←(K=⍉most⍉most K)∧K>0.06×⌈/,K
beside←¯3+⍳5
mark←⊃∨/(beside⊖¨⊂peak),beside⌽¨⊂peak

red←255×mark+scene×~mark
other←255×scene×~mark
(↑red other other)⎕IMG((⊃⎕ARG,⊂'docs/pictures'),'/corners.png')1
⎕←(⍕+/,peak),' corners'
