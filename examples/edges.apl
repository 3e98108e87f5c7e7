#!/usr/bin/env aplomb
⍝ Pictures and stencils: ⌺ gives a function each cell's neighbourhood.

⍝ A picture: brightness 0 to 1. A disc with a hole, on a 16 by 32 grid; a cell is twice as high as wide.
y←¯8.5+⍳16
x←¯16.5+⍳32
r←((y*2)∘.+(x÷2)*2)*0.5
picture←(r<7)∧r>3
paint←{' .:-=+*#%@'[1+⌊9.99×1⌊0⌈⍵]}
⎕←'Picture'
paint picture

⍝ Outside the picture there are zeros.
blur←{{(+/,⍵)÷9}⌺3 3⊢⍵}
⎕←'Blurred twice'
paint blur blur picture

⍝ Sobel's masks measure how fast brightness changes across and down; together the edge's strength.
across←3 3⍴¯1 0 1 ¯2 0 2 ¯1 0 1
change←{mask←⍺ ⋄ {+/,mask×⍵}⌺3 3⊢⍵}
sobel←{(((across change ⍵)*2)+((⍉across)change ⍵)*2)*0.5}
⎕←'Edges'
paint(sobel picture)÷4

⍝ Erosion keeps what has only bright neighbours, dilation adds all neighbours: ⌊/ and ⌈/.
erode←{{⌊/,⍵}⌺3 3⊢⍵}
dilate←{{⌈/,⍵}⌺3 3⊢⍵}
⎕←'Bright cells: picture, eroded, dilated, opened'
+/¨,¨picture(erode picture)(dilate picture)(dilate erode picture)
