#!/usr/bin/env aplomb
⍝ A pattern that turns and grows, with the vectors that seeds/acl-motion.apl finds, as motion.png.
⍝ Run it from the project's root; a word behind it is the folder that gets the picture.

own←{t←⊃⎕NGET ⍵ ⋄ t←(t⍳⎕UCS 10)↓t ⋄ (¯1+⊃⍸'⍝ Check'⍷t)↑t}
⍎own'examples/seeds/acl-motion.apl'

⍝ Waves of many directions and lengths, none of them a multiple of another.
n←256
y←((⍳n)-0.5×n+1)∘.+n⍴0 ⋄ x←⍉y
ways←(0.31 0.12)(¯0.17 0.29)(0.07 ¯0.41)(0.53 0.37)(0.11 0.05)(0.61 ¯0.23)
pattern←{(y x)←⍵ ⋄ 0.5+(⊃+/{1○(y×⍵[1])+x×⍵[2]}¨ways)÷12}
(sin cos)←1 2○○2÷180
old←pattern y x
new←pattern 0.97×((y×cos)-x×sin)((y×sin)+x×cos)

⍝ A line from each block's middle, as long as its vector twice, and a dot where it begins.
(u v)←old motion new
k←n÷16 ⋄ middle←(¯8+16×⍳k)∘.+k⍴0
t←2×(0,⍳40)÷40
rows←1⌈n⌊⌊0.5+(middle∘.+0×t)+u∘.×t
cols←1⌈n⌊⌊0.5+((⍉middle)∘.+0×t)+v∘.×t
line←(n×n)⍴0 ⋄ line[,cols+n×rows-1]←1
line←n n⍴line
at←n⍴7 2 7/0 1 0 ⋄ dot←at∘.∧at
dark←0.55×old
red←255×(line∨dot)+dark×~line∨dot
green←255×line+dark×~line∨dot
blue←255×dark×~line∨dot
(↑red green blue)⎕IMG((⊃⎕ARG,⊂'docs/pictures'),'/motion.png')1
⎕←(⍕×/⍴u),' blocks, the longest vector is ',(2⍕⌈/,((u*2)+v*2)*0.5),' pixels'
