⍝ The moves of the Tower of Hanoi with Y discs: pairs from-to.
⍝ X: the names of the three pegs, from, over and to; 'ABC' by default.
⍝       hanoi 2
⍝  AB  AC  BC
hanoi←{
    ⍺←'ABC'
    move←{
        ⍵≤0:0⍴⊂'  '
        from over to←⍺
        ((from to over)∇ ⍵-1),(⊂from to),(over from to)∇ ⍵-1
    }
    ⍺ move ⍵
}
