⍝ The text Y in capitals.
ucase←{1 ⎕C ⍵}
