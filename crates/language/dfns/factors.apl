⍝ The prime factors of the whole number Y, smallest first, each as often as it divides Y.
⍝       factors 360
⍝ 2 2 2 3 3 5
factors←{
    (⍵<1)∨⍵≠⌊⍵:⎕SIGNAL 11
    down←{
        n p found←⍵
        n<p×p:found,(n>1)/n
        0=p|n:∇(n÷p)p(found,p)
        ∇ n(p+1+p>2)found
    }
    down ⍵ 2 ⍬
}
