⍝ The array Y as a picture with a frame around each array in it.
⍝ An arrow in the edge stands for an axis (⊖ and ⌽: one of length 0), the mark below for what is
⍝ inside: ~ numbers, ─ text, + both, # namespaces, ∊ arrays.
⍝       display 1 'ab'
⍝ ┌→───────┐
⍝ │   ┌→─┐ │
⍝ │ 1 │ab│ │
⍝ │   └──┘ │
⍝ └∊───────┘
display←{
    flat←{
        2>≢⍴⍵:1(≢,⍵)⍴⍵
        2=≢⍴⍵:⍵
        gap←((≢⍴⍵)-2)(⊢/⍴⍵)⍴' '
        ⊃{⍺⍪gap⍪⍵}/∇¨⊂⍤¯1⊢⍵
    }
    kind←{
        326=⎕DR ⍵:'#'
        0=10|⎕DR ⍵:'─'
        '~'
    }
    mark←{
        1<|≡⍵:'∊'
        kinds←∪kind¨,⍵
        1=≢kinds:⊃kinds
        '+'
    }
    frame←{
        shape type←⍺
        height width←⍴⍵
        edges←{2>≢shape:,'│' ⋄ '↓⌽'[⎕IO+0=¯1↓shape]}⍬
        first←{0=≢shape:'─' ⋄ 0=⊢/shape:'⊖' ⋄ '→'}⍬
        left←edges⍪((height-1),≢edges)⍴'│'
        line←(width-1)⍴'─'
        top←((≢edges)⍴'┌'),first,line,'┐'
        bottom←((≢edges)⍴'└'),type,line,'┘'
        top⍪(left,⍵,'│')⍪bottom
    }
    stack←{
        0=≢⍴⍵:⊃⍵
        gap←((≢⍴⍵)-1)(⊢/⍴⊃⍵)⍴' '
        ⊃{⍺⍪gap⍪⍵}/∇¨⊂⍤¯1⊢⍵
    }
    grid←{
        table←((×/¯1↓⍴⍵),⊢/⍴⍵)⍴show¨⍵
        tall←⌈/≢¨table
        wide←⌈⌿(⊢/⍴)¨table
        lines←,/' ',¨(tall∘.,wide)↑¨table
        stack(¯1↓⍴⍵)⍴lines,¨' '
    }
    show←{
        0=≡⍵:↑''(⍕⍵)('-'/⍨0=10|⎕DR ⍵)
        some←(1⌈⍴⍵)⍴⍵
        1≥|≡some:(⍴⍵)(mark some)frame flat⍕some
        (⍴⍵)(mark some)frame grid{0=≢⍴⍵:,⍵ ⋄ ⍵}some
    }
    show ⍵
}
