⍝ All choices of X of the numbers ⍳Y, a row each, in ascending order.
⍝       2 cmat 4
⍝ 1 2
⍝ 1 3
⍝ 1 4
⍝ 2 3
⍝ 2 4
⍝ 3 4
cmat←{
    io←⎕IO
    choose←{
        k n←⍵
        k=0:1 0⍴0
        k>n:0 k⍴0
        (0,1+∇(k-1)(n-1))⍪1+∇ k(n-1)
    }
    io+choose ⍺ ⍵
}
