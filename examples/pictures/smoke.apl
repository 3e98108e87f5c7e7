#!/usr/bin/env aplomb
⍝ Smoke that rises from two sources by the steps of seeds/acc-fluid.apl, as smoke.png.
⍝ Run it from the project's root; a word behind it is the folder that gets the picture.

own←{t←⊃⎕NGET ⍵ ⋄ t←(t⍳⎕UCS 10)↓t ⋄ (¯1+⊃⍸'⍝ Check'⍷t)↑t}
⍎own'examples/seeds/acc-fluid.apl'

n←128
y←(⍳n)∘.+n⍴0 ⋄ x←⍉y
blob←{*-(((y-⍺)*2)+(x-⍵)*2)÷18}       ⍝ about row ⍺ and column ⍵
one←112 blob 44 ⋄ two←112 blob 84
source←(¯0.22×one+two)(0.06×one-two)(0.35×one+two)

⍝ Each step puts in what a source gives, pushes up what there is of smoke, and lets it move.
step←{(u v d)←⍵+source ⋄ 0.1 1E¯6 1E¯6 fluid(u-0.02×d)v d}
later←{step⍣12⊢⍵}
a←later 3⍴⊂n n⍴0
b←later a ⋄ c←later b
shown←⊃,/{255×1-*-3⊃⍵}¨a b c
shown⎕IMG((⊃⎕ARG,⊂'docs/pictures'),'/smoke.png')1
⎕←'smoke in the air: ',⍕⌊0.5+{+/,3⊃⍵}¨a b c
