⍝ All permutations of the numbers ⍳Y, a row each, in ascending order.
⍝       pmat 3
⍝ 1 2 3
⍝ 1 3 2
⍝ 2 1 3
⍝ 2 3 1
⍝ 3 1 2
⍝ 3 2 1
pmat←{
    io←⎕IO
    ⎕IO←0
    all←{
        ⍵≤0:1 0⍴0
        n←⍵
        less←∇ n-1
        ⊃⍪/{⍵,less+less≥⍵}¨⍳n
    }
    io+all ⍵
}
