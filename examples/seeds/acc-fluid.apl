#!/usr/bin/env aplomb
⍝ A step of a fluid on a grid, by the stable method of Stam: velocity, and the density it carries.
⍝ Accelerate, ICFP 2013, pages 49–60: section 5.6 and table 2, 2 million cells, some 160 convolutions
⍝ a step; Repa 5461 ms, Accelerate 107 ms, without sharing 119 ms. Beyond the border all is 0. The
⍝ 160 are four times 40 sweeps: of the velocity, of what makes it free of divergence, twice, and of
⍝ the density.
⍝
⍝     diffuse:  40 times  x ← (x₀ + a Σ₄ x) ÷ (1 + 4a),  a = dt × rate × N²
⍝     project:  d = −½ div u,  40 times  p ← (d + Σ₄ p) ÷ 4,  u − ½ grad p
⍝     advect:   x at the place from which the velocity comes, dt earlier, bilinear

above←{¯1↓0⍪⍵} ⋄ below←{1↓⍵⍪0}
left←{0 ¯1↓0,⍵} ⋄ right←{0 1↓⍵,0}
four←{(above ⍵)+(below ⍵)+(left ⍵)+right ⍵}

diffuse←{(a x)←⍺ ⍵ ⋄ {(x+a×four ⍵)÷1+4×a}⍣40⊢x}
project←{                             ⍝ velocities down and along
    (u v)←⍵
    d←¯0.5×((below u)-above u)+(right v)-left v
    p←{0.25×d+four ⍵}⍣40⊢d
    (u-0.5×(below p)-above p)(v-0.5×(right p)-left p)
}
advect←{                              ⍝ ⍺: cells that the velocity goes; ⍵: what is carried
    (n k)←⍴⍵ ⋄ (u v)←⍺ ⋄ flat←,⍵
    y←0⌈(n-1)⌊((¯1+⍳n)∘.+k⍴0)-u ⋄ x←0⌈(k-1)⌊((n⍴0)∘.+¯1+⍳k)-v
    (i j)←⌊¨y x ⋄ (p q)←(y-i)(x-j)
    at←{flat[1+(⍵⌊k-1)+k×⍺⌊n-1]}
    ((1-p)×((1-q)×i at j)+q×i at j+1)+p×((1-q)×(i+1)at j)+q×(i+1)at j+1
}
now←{_←⎕DR¨⍵ ⋄ ⍵}                     ⍝ computes what is pending: a step is long for one evaluation
fluid←{                               ⍝ ⍺: dt, rates of velocity and density; ⍵: velocities, density
    (dt du dn)←⍺ ⋄ (u v x)←⍵ ⋄ cells←×/⍴x
    cell←{⍵×dt×cells*0.5}             ⍝ cells that a velocity goes
    (u v)←now project now(dt×du×cells)∘diffuse¨u v
    (u v)←now project now((cell u)(cell v))∘advect¨u v
    now u v(((cell u)(cell v))advect(dt×dn×cells)diffuse x)
}

⍝ Check: a diffusion; then three steps, each of which puts in a drop that moves: what density there
⍝ is, and the greatest speed.
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
⎕←'diffuse   ',⍕+/,(0.1×1E¯4×16*2)diffuse m 16 16
drop←16 16⍴0 ⋄ drop[7 8;5 6]←1
step←{0.1 1E¯4 1E¯4 fluid ⍵+(0.2×drop)drop drop}
(u v x)←step⍣3⊢3⍴⊂16 16⍴0
⎕←'fluid     ',⍕(+/,x)(⌈/,((u*2)+v*2)*0.5)
