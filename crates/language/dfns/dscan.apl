⍝ The scan by division along the last axis, in one pass.
⍝       dscan 8 4 2
⍝ 8 2 4
dscan←{{×\⍵*(≢⍵)⍴1 ¯1}⍤1⊢⍵}
