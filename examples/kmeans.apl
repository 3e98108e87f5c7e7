#!/usr/bin/env aplomb
⍝ k-means: finds groups of points without being told what belongs together.

⎕RL←7
⍝ Three clouds of 50 points. Box and Muller make normal numbers out of uniform ones.
normal←{((¯2×⍟?⍵⍴0)*0.5)×2○○2×?⍵⍴0}
centres←3 2⍴2 3 8 1 6 7
points←centres[150⍴⍳3;]+0.8×normal 150 2

⍝ +.(×⍨-) is an inner product like +.×: the squared distance of every point to every mean.
avg←+⌿÷≢
nearest←{⊃∘⍋⍤1⊢⍺+.(×⍨-)⍉⍵}            ⍝ which mean is nearest to each point
step←{(points nearest ⍵)avg⍤⊢⌸points}  ⍝ the means of the points that went together
means←step⍣≡3↑points

group←points nearest means
⎕←'Means found, and how many points went to each'
(2⍕means),' ',' ',⍕⍪{≢⍵}⌸group
⎕←'The clouds were made around'
centres[group[⍳3];]                    ⍝ the first three points came from clouds 1 2 3

⍝ Points that went with another cloud than their own.
cloud←150⍴⍳3
⎕←'Strays: ',⍕+/group≠group[⍳3][cloud]

⍝ A picture: each point is drawn as the number of its group.
canvas←18 44⍴' '
row←19-1⌈18⌊⌈2×points[;2]+0.5
col←1⌈44⌊⌈4×points[;1]
canvas[↓row,⍪col]←'123'[group]
canvas
