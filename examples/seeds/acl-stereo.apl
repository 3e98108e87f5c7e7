#!/usr/bin/env aplomb
⍝ How far to the left each pixel of a left picture is found in the right one.
⍝ Accelerator, ASPLOS 2006, page 334, table 5, “Stereo matching”: C++ 702 ms. By brute force: the
⍝ offset with the least sum of squared differences (SSD) over 7 × 7 pixels; of equals the first.
⍝ Beyond an edge the edge is repeated.
⍝
⍝     d[i;j] = argmin_d Σ (L[i+y;j+x] − R[i+y;j+x−d])²,  y and x from ¯3 to 3, d from 0

box←{n←≢⍵ ⋄ wide←(3⌿1↑⍵)⍪⍵⍪3⌿¯1↑⍵ ⋄ ⊃+/{n↑⍵↓wide}¨¯1+⍳7}
right←{(⍴⍵)↑(⍺/⍵[;,1]),⍵}             ⍝ ⍵ moved by ⍺ columns

stereo←{                              ⍝ ⍺: the left and the right picture; ⍵: how many offsets
    (L R)←⍺
    ssd←{⍉box⍉box(L-⍵ right R)*2}¨¯1+⍳⍵
    ⊃+/∧\ssd≠⌊/ssd                    ⍝ so many offsets before the least
}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
L←m 24 32
⎕←'stereo    ',⍕∪,L(L[;32⌊3+⍳32])stereo 8
