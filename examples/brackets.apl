#!/usr/bin/env aplomb
⍝ Brackets: how deep they are, whether they match, and what the formula says.

formula←'2*(3+4*(5-1))-(6+7)/(8-2)'

⍝ Depth is a running sum: up at (, down after ).
depth←{+\(⍵='(')-0,¯1↓⍵=')'}
⎕←'Formula and depth'
↑formula(∊⍕¨depth formula)
⎕←'The innermost part: ',(depth formula){⍵/⍨⍺=⌈/⍺}formula

⍝ Kinds: remove neighbours that match until nothing changes. What is left has no partner.
pairs←'()' '[]' '{}'
strip←{⍵/⍨~(⊢∨¯1∘⌽)⊃∨/pairs⍷¨⊂⍵}⍣≡
matched←{0=≢strip ⍵∩∊pairs}
↑{(⍕matched ⍵),'  ',⍵}¨'a[i]+(b×{c})' '(a[b)c]' '((x)' '' ')('

⍝ A formula is terms with + and - between, a term is factors with * and / between, a factor is a number
⍝ or a formula in brackets. Each part of the parser gives its value and the text that is left.
number←{n←+/∧\⍵∊⎕D ⋄ (⍎n↑⍵)(n↓⍵)}
factor←{'('≠⊃⍵:number ⍵ ⋄ (value rest)←sum 1↓⍵ ⋄ value(1↓rest)}
apply←{(x op y)←⍵ ⋄ op='+':x+y ⋄ op='-':x-y ⋄ op='*':x×y ⋄ x÷y}
chain←{                                ⍝ parts that ⍺⍺ reads, with one of ⍵⍵ between, from left to right
    part←⍺⍺ ⋄ ops←⍵⍵
    more←{
        (value rest)←⍵
        ~(⊃rest)∊ops:⍵
        (right left)←part 1↓rest
        ∇(apply value(⊃rest)right)left
    }
    more part ⍵
}
term←factor chain '*/'
sum←term chain '+-'
{⍵,' is ',⍕⊃sum ⍵}formula
{⍵,' is ',⍕⊃sum ⍵}'10-4-3'
