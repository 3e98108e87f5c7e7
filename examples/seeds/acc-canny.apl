#!/usr/bin/env aplomb
⍝ The edges of a colour picture, after Canny.
⍝ Accelerate, ICFP 2013, pages 49–60: section 5.7 and table 2, 16 million pixels; OpenCV 50.6 ms,
⍝ Accelerate 78.4 ms, without sharing 82.7 ms. Six parallel phases; the seventh, which links what is
⍝ left, was recursive and ran on the host: here it is a flood. Beyond an edge the edge is repeated.
⍝
⍝     grey; blur along columns; along rows; slopes dx and dy by Sobel, √(dx² + dy²) steep;
⍝     0 ½ 1 for nothing, weak and strong, where neither neighbour along the slope is steeper;
⍝     the places of the strong

wider←{(⍺⌿1↑⍵)⍪⍵⍪⍺⌿¯1↑⍵}              ⍝ the edges repeated
smooth←{n←≢⍵ ⋄ wide←(0.5×¯1+≢⍺)wider ⍵ ⋄ ⊃+/⍺×{n↑⍵↓wide}¨¯1+⍳≢⍺}
gauss←{⍉⍺smooth⍉⍺smooth ⍵}
near←{s←⍴⍵ ⋄ wide←⍉1 wider⍉1 wider ⍵ ⋄ {s↑(1+⍵)↓wide}¨,¯1 0 1∘.,¯1 0 1}

canny←{                               ⍝ ⍺: weak from, strong from; ⍵: red, green and blue
    (nw n ne w _ e sw s se)←near(1 4 6 4 1÷16)gauss 0.299 0.587 0.114+.×⍵
    dx←(ne+se+2×e)-nw+sw+2×w
    dy←(sw+se+2×s)-nw+ne+2×n
    steep←((dx*2)+dy*2)*0.5
    t←3○○÷8                           ⍝ a slope within 22.5 degrees of an axis runs along it
    along←(|dy)≤t×|dx ⋄ down←(along<(|dx)≤t×|dy)
    falls←(along⍱down)∧0<dx×dy ⋄ rises←along⍱down∨falls
    (nw n ne w _ e sw s se)←near steep
    other←(along×w⌈e)+(down×n⌈s)+(falls×nw⌈se)+rises×ne⌈sw
    peak←(steep≥other)∧steep≥⍺[1]
    0.5×peak×1+steep≥⍺[2]
}

⍝ What is weak stays where it hangs together with what is strong.
spread←{⍵∨(¯1↓0⍪⍵)∨1↓⍵⍪0}
link←{any←⍵>0 ⋄ {any∧⍉spread⍉spread ⍵}⍣≡⍵=1}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
E←0.05 0.3 canny m 3 24 24
strong←⍸E=1                           ⍝ where to begin
⎕←'canny     ',⍕(+/,E=0.5)(≢strong)(+/,link E)
