#!/usr/bin/env aplomb
⍝ Binary, hexadecimal and Base64 with ⊤ and ⊥.

⍝ ⊤ writes numbers in a base, one column each; ⊥ reads them.
bits←{⍉(8⍴2)⊤⍵}
⎕←'APL in bits'
'01'[1+bits ⎕UCS 'APL']

digits←⎕D,6↑⎕A
hex←{,digits[1+⍉16 16⊤⍵]}
unhex←{16⊥⍉((0.5×≢⍵),2)⍴¯1+digits⍳⍵}
⎕←'Hexadecimal, and back'
hex 222 173 190 239
unhex 'DEADBEEF'

⍝ Text becomes bytes as UTF-8: 'UTF-8'⎕UCS.
bytes←'UTF-8'∘⎕UCS
⎕←'π ≈ 3 as UTF-8'
bytes 'π ≈ 3'

⍝ Base64: the bits of all bytes, six at a time. = fills up to whole groups of four.
alphabet←⎕A,(⎕C ⎕A),⎕D,'+/'
encode←{
    b←,bits ⍵
    b←b,(6|-≢b)⍴0
    text←alphabet[1+2⊥⍉((≢b)÷6)6⍴b]
    text,(4|-≢text)⍴'='
}
decode←{
    b←,⍉(6⍴2)⊤¯1+alphabet⍳⍵~'='
    2⊥⍉(n 8)⍴b↑⍨8×n←⌊(≢b)÷8
}
⎕←'Base64'
encode∘bytes¨'A' 'AP' 'APL' 'Many hands make light work.'
⎕←'And back: ',bytes decode encode bytes 'naïve café → ok'
⎕←'All bytes come back: ',⍕all≡decode encode all←¯1+⍳256
