⍝ A line of APL without its comment and the blanks before it.
⍝ Nested Y: each of its lines.
⍝       rmcm'a←''⍝'' ⍝ a comment'
⍝ a←'⍝'
rmcm←{
    1<|≡⍵:∇¨⍵
    code←∧\~(⍵='⍝')∧~≠\⍵=''''
    line←code/⍵
    (-+/∧\' '=⌽line)↓line
}
