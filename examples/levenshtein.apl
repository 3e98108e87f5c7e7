#!/usr/bin/env aplomb
⍝ Levenshtein distance: how many letters to insert, delete or change to make one word of another.

⍝ The table of all prefixes' distances is made row by row. A row comes from the one above it (⍵) by
⍝ deleting (1+⍵) or changing (one to the left, plus 1 if the letters differ) …
⍝ and inserting, which reads the new row itself: ⌊\ does that after taking off the slope 0 1 2 …
distance←{
    word←⍵
    row←{
        slope←¯1+⍳≢⍵
        change←(1+⊃⍵),(¯1↓⍵)+⍺≠word
        slope+⌊\(change⌊1+⍵)-slope
    }
    ⊃⌽⊃row/(⌽⍺),⊂0,⍳≢word              ⍝ from right to left: the first letter comes last in ⌽⍺
}

⎕←'kitten → sitting: ',⍕'kitten'distance'sitting'
⎕←'Against nothing: ',⍕'four'distance''

words←'banana' 'bandana' 'cabana' 'canada' 'panama'
⎕←'All pairs'
(⍪words),words∘.distance words

⍝ The same number both ways, and no way round is shorter.
D←words∘.distance words
⎕←'symmetric, triangle inequality: ',⍕(D≡⍉D)(∧/,D≤D⌊.+D)

⍝ Spelling: the nearest word.
lexicon←'array' 'axis' 'boolean' 'function' 'operator' 'reshape' 'transpose' 'vector'
nearest←{d←(⊂⍵)distance¨lexicon ⋄ (⊃⍋d)⊃lexicon}
↑{⍵,' → ',nearest ⍵}¨'functoin' 'tanspose' 'aray' 'resahpe'
