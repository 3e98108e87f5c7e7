#!/usr/bin/env aplomb
⍝ Where each block of 16 × 16 pixels of one frame is found in the next, to a quarter of a pixel.
⍝ Accelerator, ASPLOS 2006, page 334, table 5, “Motion estimation”: frames of 512², C++ 69 ms.
⍝ A quarter of the size first, with all of 7 × 7 places; then half the size, the whole, half pixels
⍝ and quarters, each with the places one step around the last. A block's error is the sum of its
⍝ absolute differences; of equal ones the first is taken. Frames are halved by means of 2 × 2
⍝ pixels, and beyond an edge the edge is repeated. Vectors are rows, then columns.

half←{(n k)←(⍴⍵)÷2 ⋄ 0.25×+/+/[2]n 2 k 2⍴⍵}

refine←{                              ⍝ ⍺: frames, block, places to try; ⍵: vectors (rows)(columns)
    (old new z try)←⍺
    (n k)←⍴old ⋄ flat←,new
    spread←{z/z⌿⍵}                    ⍝ a number a block to a number a pixel
    sum←{+/+/[2](n÷z)z(k÷z)z⍴⍵}       ⍝ a number a pixel to a number a block
    (u v)←spread¨⍵
    error←{
        y←u+(¯1+⍳n)∘.+k⍴⍵[1] ⋄ x←v+(n⍴⍵[2])∘.+¯1+⍳k
        (i j)←⌊¨y x ⋄ (p q)←(y-i)(x-j)
        at←{flat[1+(0⌈⍵⌊k-1)+k×0⌈⍺⌊n-1]}
        is←((1-p)×((1-q)×i at j)+q×i at j+1)+p×((1-q)×(i+1)at j)+q×(i+1)at j+1
        sum|old-is
    }
    errors←error¨try
    first←1+⊃+/∧\errors≠⌊/errors
    ⍵+((⊃¨try)[first])((2⊃¨try)[first])
}
around←{,⍺×(-⍵)+¯1+⍳2⍴1+2×⍵}          ⍝ ⍵ steps of ⍺ around, row by row

motion←{                              ⍝ ⍺: a frame; ⍵: the next; the vectors' rows and columns
    (a b)←⍺ ⍵ ⋄ (a2 b2)←half¨a b ⋄ (a4 b4)←half¨a2 b2
    none←⊂((⍴⍺)÷16)⍴0
    v←(a4 b4 4(1 around 3))refine none,none
    v←(a2 b2 8(1 around 1))refine 2×v
    v←(a b 16(1 around 1))refine 2×v
    v←(a b 16(0.5 around 1))refine v
    (a b 16(0.25 around 1))refine v
}

⍝ Check: a smooth pattern that moves by 2.25 rows and ¯3.5 columns.
f←{y←⍺ ⋄ x←⍵ ⋄ 0.5+(0.2×1○(0.11×x)+0.07×y)+(0.2×1○(0.05×x)-0.13×y)+0.1×1○(0.31×x)+0.23×y}
grid←{(¯1+⍳⍵)∘.f ¯1+⍳⍵}
moved←{(2.25+¯1+⍳⍵)∘.f ¯3.5+¯1+⍳⍵}
(u v)←(moved 128)motion grid 128
inner←{1 1↓¯1 ¯1↓⍵}
off←(inner|u-2.25)⌈inner|v+3.5
⎕←'motion    ',(⍕+/,off=0),' exact, ',(⍕+/,off=0.25),' within a quarter, of ',⍕×/⍴off
