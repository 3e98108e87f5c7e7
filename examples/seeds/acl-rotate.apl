#!/usr/bin/env aplomb
⍝ A colour picture turned by ten degrees about its centre, cropped, bilinear between four pixels.
⍝ Accelerator, ASPLOS 2006, page 334, table 5, “Rotate”: 1000 × 1000 in colour, C++ 129 ms.
⍝ What lies outside is 0. A picture is planes of rows of columns.
⍝
⍝     y = c + (i−c) cos − (j−c) sin,  x = c + (i−c) sin + (j−c) cos,  c = (n−1)÷2
⍝     R[i;j] = the mean of the four pixels around A[y;x], weighed by nearness

turn←{                                ⍝ ⍺ radians, ⍵ one plane
    (n k)←⍴⍵ ⋄ a←,⍵
    (cy cx)←((n k)-1)÷2
    i←(¯1+⍳n)-cy ⋄ j←(¯1+⍳k)-cx
    y←cy+(i×2○⍺)∘.-j×1○⍺
    x←cx+(i×1○⍺)∘.+j×2○⍺
    (v h)←⌊¨y x
    at←{                              ⍝ pixels at rows ⍺ and columns ⍵, from 0
        in←(⍺≥0)∧(⍺<n)∧(⍵≥0)∧⍵<k
        in×a[1+in×⍵+k×⍺]
    }
    (p q)←(y-v)(x-h)
    ((1-p)×((1-q)×v at h)+q×v at h+1)+p×((1-q)×(v+1)at h)+q×(v+1)at h+1
}
rotate←{⍺∘turn⍤2⊢⍵}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
⎕←'rotate    ',⍕+/,(○10÷180)rotate m 16 16
