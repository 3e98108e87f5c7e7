#!/usr/bin/env aplomb
⍝ A colour picture from a Bayer pattern, by the linear filters of Malvar, He and Cutler.
⍝ Accelerator, ASPLOS 2006, page 334, table 5, “Demosaic”: 1000 × 1000, C++ 94 ms; its reference 12.
⍝ The pattern is R G over G B; beyond an edge the picture is mirrored, without repeating the edge.
⍝
⍝     8 × green at red or blue:  4 centre + 2 cross − cross at distance 2
⍝     8 × red at blue:           6 centre + 2 diagonals − 1½ cross at distance 2
⍝     8 × red at green, along:   5 centre + 4 beside − diagonals − beside at 2 + ½ across at 2

mirror←{(⊖2↑1↓⍵)⍪⍵⍪⊖2↑¯3↑⍵}           ⍝ two rows more above and below

demosaic←{
    s←⍴⍵
    wide←⍉mirror⍉mirror ⍵
    at←{s↑(2+⍵)↓wide}                 ⍝ the picture as seen from a place beside
    beside←(at 0 ¯1)+at 0 1 ⋄ beside2←(at 0 ¯2)+at 0 2
    across←(at ¯1 0)+at 1 0 ⋄ across2←(at ¯2 0)+at 2 0
    diagonals←(at ¯1 ¯1)+(at ¯1 1)+(at 1 ¯1)+at 1 1
    cross←(4×⍵)+(2×beside+across)-beside2+across2
    level←(5×⍵)+(4×beside)+(0.5×across2)-diagonals+beside2
    upright←(5×⍵)+(4×across)+(0.5×beside2)-diagonals+across2
    corner←(6×⍵)+(2×diagonals)-1.5×beside2+across2
    odd←2|⍳s[1] ⋄ here←2|⍳s[2]        ⍝ rows and columns that have red
    red←odd∘.∧here ⋄ blue←odd∘.⍱here ⋄ reds←odd∘.>here ⋄ blues←odd∘.<here
    R←(red×8×⍵)+(reds×level)+(blues×upright)+blue×corner
    G←((reds+blues)×8×⍵)+(red+blue)×cross
    B←(blue×8×⍵)+(blues×level)+(reds×upright)+red×corner
    0.125×↑R G B                      ⍝ three planes
}

⍝ Check
⎕PP←12
g←{(997|1103×⍳⍵)÷997}                 ⍝ ⍵ numbers in [0, 1)
m←{⍵⍴g×/⍵}                            ⍝ an array of them
⎕←'demosaic  ',⍕+/+/demosaic m 16 16
