⍝ The text Y in small letters; items of any depth.
⍝       lcase'Mixed CASE'
⍝ mixed case
lcase←{¯1 ⎕C ⍵}
