#!/usr/bin/env aplomb
⍝ Two old ciphers: Caesar's, and Vigenère's, which is Caesar's with a key that changes from letter to letter.

⍝ Letters as 0 to 25; the sum modulo 26 shifts them. All other characters stay.
shift←{
    letter←⍵∊⎕A
    code←¯1+⎕A⍳letter/⍵
    text←⍵
    (letter/text)←⎕A[1+26|code+⍺]
    text
}

text←'VENI, VIDI, VICI.'
⎕←'Caesar, by 3'
⊢secret←3 shift text
¯3 shift secret

⍝ Without the key: of all 26 shifts, take the one that looks most like Latin or English: many E, few Q, X, Z.
guess←{
    tries←(-⍳26)shift¨⊂⍵
    score←{(+/⍵∊'EAIOTN')-+/⍵∊'QXZJKW'}¨tries
    (⊃⍒score)⊃tries
}
long←'IT IS A TRUTH UNIVERSALLY ACKNOWLEDGED THAT A SINGLE MAN MUST BE IN WANT OF A WIFE'
⎕←'Shifted by 17, and guessed'
17 shift long
guess 17 shift long

⍝ Vigenère: the key's letters, again and again, are the shifts.
vigenere←{key←¯1+⎕A⍳⍺⍺ ⋄ (⍺×(+/⍵∊⎕A)⍴key)shift ⍵}
⎕←'Vigenère with the key LEMON'
⊢secret←1('LEMON'vigenere)'ATTACK AT DAWN!'
¯1('LEMON'vigenere)secret
