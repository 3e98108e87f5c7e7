⍝ A launch of each shape that has CUDA text, small: what run.sh gives to the sanitizers.
V←0.5×⍳3000 ⋄ M←50 60⍴V ⋄ L←3000⍴1 0 1 ⋄ F←'f32'⎕AS V
(+/÷V)(2×⌽V)(1+⍉M)(+/M)(+⌿M)(⌈/⌊V)(V÷+/V)
(+\V)(⌈\M)(L/V)
(M+.×⍉M)(+/F×⌽F)(F+2.5×⌽F)
V[1+3000|⌊7×V]
{0.5×⍵+2÷⍵}⍣9⊢V
{s←⍵+(1⌽⍵)+¯1⌽⍵ ⋄ s←s+(1⊖s)+¯1⊖s ⋄ (s=3)∨⍵∧s=4}50 60⍴L
+/¨(3000⍴16↑1)⊂V
(3↓V)+¯3↓V
]device
