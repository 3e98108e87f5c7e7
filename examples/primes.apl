#!/usr/bin/env aplomb
⍝ Primes three ways, and the factors of a number.

⍝ By definition: exactly two divisors. ∘.| is the table of all remainders.
defined←{(2=+⌿0=∘.|⍨⍳⍵)/⍳⍵}
⎕←'Primes up to 50'
defined 50

⍝ What is no product: remove the multiplication table.
products←{r~∘.×⍨r←1↓⍳⍵}
⎕←'The same numbers? ',⍕(products 50)≡defined 50

⍝ Eratosthenes: strike the multiples of each prime up to the root.
sieve←{
    n←⍵
    prime←0,1↓n⍴1
    strike←{prime[⍵]:prime[⍵×1↓⍳⌊n÷⍵]←0 ⋄ 0}
    _←strike¨1↓⍳⌊n*0.5
    ⍸prime
}
⎕←'How many are there up to 10, 100 … 1 000 000?'
{≢sieve ⍵}¨10*⍳6
⎕←'Gaps between the primes up to 100 000: the greatest, and how many are twins'
gaps←2-⍨/sieve 100000
(⌈/gaps)(+/gaps=2)

⍝ Factors: try 2, 3, 4 … and divide; what is left below the root is prime. ∇ in tail position is a loop.
factors←{
    ⍺←2
    ⍵<⍺×⍺:⍵~1
    0=⍺|⍵:⍺,⍺∇⍵÷⍺
    (⍺+1)∇⍵
}
tell←{(⍕⍵),' = ',⊃{⍺,' × ',⍵}/⍕¨factors ⍵}
↑tell¨360 1001 65537 123456789
