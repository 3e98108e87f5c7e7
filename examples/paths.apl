#!/usr/bin/env aplomb
⍝ Shortest paths between all pairs of towns: Floyd and Warshall's method is an inner product.

towns←'Aarhus' 'Berlin' 'Copenhagen' 'Dresden' 'Hamburg' 'Malmö'
none←9999                              ⍝ no road
roads←(1 5 340)(5 2 290)(2 4 190)(5 3 330)(3 6 40)(1 3 310)(4 5 480)
D←none×~∘.=⍨⍳≢towns
_←{(a b d)←⍵ ⋄ D[a;b]←D[b;a]←d}¨roads

⍝ A way from a to b through any k costs D[a;k]+D[k;b]; the best is D⌊.+D. Again until nothing changes.
shortest←{⍵⌊.+⍵}⍣≡D
⎕←'Distances'
shortest
⎕←'The farthest two: ',{(⊃⍵),' – ',2⊃⍵}towns[⊃⍸shortest=⌈/,shortest]

⍝ ∨.∧ on the same table asks only whether there is a way. Without the bridge Malmö is alone.
cut←D
cut[3;6]←cut[6;3]←none
reach←{⍵∨.∧⍵}⍣≡cut<none
⎕←'Who is together without the bridge?'
↑{⊃{⍺,', ',⍵}/towns[⍸⍵]}¨∪↓reach

⍝ The way itself: the next town is one whose road plus remaining distance is the whole distance.
way←{
    (a b)←⍵
    a=b:,a
    left←shortest[;b]
    next←⊃⍸(a≠⍳≢towns)∧left[a]=D[a;]+left
    a,∇next b
}
⎕←'From Malmö to Dresden'
⊃{⍺,' → ',⍵}/towns[way 6 4]
⎕←'kilometres: ',⍕shortest[6;4]
