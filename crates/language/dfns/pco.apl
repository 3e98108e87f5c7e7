⍝ Primes, and what has to do with them.
⍝ Without X: the Y-th prime, from ⎕IO. With X:
⍝   0 is Y no prime?                    1 is Y a prime?
⍝  ¯1 primes less than Y                2 factors of Y, and below them their exponents
⍝   3 factors of Y, each as often       4 the next prime after Y
⍝  ¯4 the last prime before Y          10 which of Y[1], Y[1]+1, … are primes, up to Y[2]-1
⍝       pco⍳5
⍝ 2 3 5 7 11
⍝       1 pco 7 8 9
⍝ 1 0 0
pco←{
    ⍺←⍬
    ranks←⍵+1-⎕IO
    ⎕IO←1
    upto←{
        ⎕IO←1
        ⍵<2:⍬
        n←⍵
        mask←0,1↓n⍴1
        _←{mask[⍵×1↓⍳⌊n÷⍵]←0}¨∇⌊n*÷2
        ⍸mask
    }
    prime←{
        p←upto⌊(⌈/0,,⍵)*÷2
        {⍵<2:0 ⋄ ⍵≠⌊⍵:0 ⋄ ~0∊⍵|⍨p/⍨⍵≥p×p}¨⍵
    }
    split←{
        (⍵<1)∨⍵≠⌊⍵:⎕SIGNAL 11
        down←{
            n p found←⍵
            n<p×p:found,(n>1)/n
            0=p|n:∇(n÷p)p(found,p)
            ∇ n(p+1+p>2)found
        }
        down ⍵ 2 ⍬
    }
    step←{
        by←⍺
        {prime ⍵:⍵ ⋄ (by<0)∧⍵<2:⎕SIGNAL 11 ⋄ ∇ ⍵+by}¨⍵
    }
    ⍺≡⍬:(upto⌈15⌈{⍵×(⍟⍵)+⍟⍟3⌈⍵}⌈/1,,ranks)[ranks]
    ⍺=0:~prime ⍵
    ⍺=1:prime ⍵
    ⍺=¯1:(⊂upto⌈⌈/0,,⍵){+/⍺<⍵}¨⍵
    ⍺=2:⍉{⍺(≢⍵)}⌸split ⍵
    ⍺=3:split ⍵
    ⍺=4:1 step 1+⌊⍵
    ⍺=¯4:¯1 step ¯1+⌈⍵
    ⍺=10:prime(⊃⍵)+¯1+⍳-/⌽⍵
    ⎕SIGNAL 11
}
