#!/usr/bin/env aplomb
⍝ The fast Fourier transform: the frequencies in a signal, and products of polynomials.

⍝ The transform of the even and of the odd samples; the odd ones turned, then added and subtracted.
⍝ * of an imaginary number turns: *○0J1 is ¯1. The number of samples is a power of 2.
fft←{
    1=n←≢⍵:⍵
    even←∇⍵/⍨n⍴1 0
    odd←∇⍵/⍨n⍴0 1
    turned←odd×*○0J¯2×(¯1+⍳n÷2)÷n
    (even+turned),even-turned
}
back←{(+fft+⍵)÷≢⍵}                     ⍝ monadic + conjugates
near←{1E¯9>⌈/|⍺-⍵}

⍝ The same by definition: every frequency with every sample.
dft←{n←≢⍵ ⋄ (*○0J¯2×(∘.×⍨¯1+⍳n)÷n)+.×⍵}
x←3 1 4 1 5 9 2 6
⎕←'The first number is the sum of the samples: ',⍕⊃fft x
⎕←'As by definition: ',⍕(fft x)near dft x
⎕←'And back: ',⍕x near back fft x

⍝ A signal: 5 waves of height 1 and 12 of height 0.5 in 64 samples.
t←○2×(¯1+⍳64)÷64
signal←(1○5×t)+0.5×2○12×t
height←(|32↑fft signal)÷32
⎕←'Frequencies and their heights'
2⍕(¯1+⍸height>0.1),[1.5]height/⍨height>0.1

⍝ Polynomials multiply by multiplying their transforms: the long way takes n² products.
times←{
    size←2*⌈2⍟¯1+⍺+⍥≢⍵
    ⌊0.5+9○(¯1+⍺+⍥≢⍵)↑back(fft size↑⍺)×fft size↑⍵
}
⎕←'(1+2x+3x²)(4+5x)'
1 2 3 times 4 5

⍝ A long number is a polynomial at 10, its digits the weights, the last first: multiply, then carry.
carry←{(10|⍵)+0,¯1↓⌊⍵÷10}⍣≡
long←{
    digits←⌽carry(⍎¨⌽⍺){(⍺ times ⍵),(≢⍺)⍴0}⍎¨⌽⍵
    ∊⍕¨digits/⍨∨\digits≠0
}
⎕←'2*128, by squaring seven times'
{⍵ long ⍵}⍣7⊢,'2'
