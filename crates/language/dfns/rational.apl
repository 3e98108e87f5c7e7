⍝ The real numbers Y as numerators and denominators, in the first axis of the result.
⍝ X: how far off they may be, relative to Y; ⎕CT by default.
⍝       rational 0.75
⍝ 3 4
⍝       rational 0.5 0.2
⍝ 1 1
⍝ 2 5
rational←{
    ⍺←⎕CT
    tolerance←⍺
    one←{
        x←⍵
        next←{
            (p q)(P Q)rest←⍵
            (|x-P÷Q)≤tolerance×|x:P Q
            rest←÷rest-⌊rest
            k←⌊rest
            ∇(P Q)((p+k×P)(q+k×Q))rest
        }
        next(1 0)((⌊x)1)x
    }
    0=≢⍴⍵:one ⍵
    ↑[⎕IO-÷2]one¨⍵
}
