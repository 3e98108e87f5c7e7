⍝ The scan by minus along the last axis, in one pass: sums with alternating signs.
⍝       mscan 1 2 3 4
⍝ 1 ¯1 2 ¯2
mscan←{{+\⍵×(≢⍵)⍴1 ¯1}⍤1⊢⍵}
