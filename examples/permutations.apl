#!/usr/bin/env aplomb
⍝ All permutations, in order, and what can be asked of them.

⍝ Each number once in front, then all permutations of the others.
perms←{
    ⍵=0:1 0⍴0
    n←⍵ ⋄ less←∇n-1
    ⊃⍪/{⍵,((⍳n)~⍵)[less]}¨⍳n
}
⎕←'Of three'
perms 3
⎕←'Of the letters of APL'
↓'APL'[perms 3]

all←perms 6
⎕←'Of six: how many, all different, in order?'
(≢all)(all≡∪all)(all≡all[⍋all;])

⍝ A permutation's inverse is its grade. One that is its own inverse only exchanges pairs.
⎕←'Of six, how many are their own inverse?'
+/{⍵≡⍋⍵}⍤1⊢all
⎕←'How many leave k in its place, k = 1 … 6; how many leave none?'
(+⌿all=[2]⍳6)(+/∧/all≠[2]⍳6)

⍝ The shortest round trip through seven towns, by trying all of them. 7 is home.
x←1 4 8 9 6 2 5
y←1 7 6 2 4 5 0
far←((x∘.-x)*2)+(y∘.-y)*2
far←far*0.5
trips←7,all,7
length←{+/far[2,/⍵]}⍤1⊢trips
best←⊃⍋length
⎕←'Shortest trip, its length, and the longest'
trips[best;](2⍕length[best])(2⍕⌈/length)
