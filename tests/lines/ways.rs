//! Lines whose values are made in several ways, by kind of work: products, places that are moved,
//! columns. Each way gives the value of the reference. What once differed elsewhere is in
//! `differential`.

use crate::differential::{Oracle, Outcome, all_equal, outcome, prepared_on};
use aplomb_compiler::pass::{PRESETS, switches};

/// Products that the CPU computes by blocks, and some that look like them.
const PRODUCTS: &[&str] = &[
    "X+.×Y",
    "X+.×⍉Z",
    "(⍉Y)+.×⍉X",
    "(⌽X)+.×⊖Y",
    "(9 65↑X)+.×2 1↓67 9↑Y",
    "(20 90↑X)+.×90 15↑Y",
    "(2 5 33⍴X)+.×33 3 7⍴Y",
    "1+2×X+.×Y",
    "⌈/X+.×Y",
    "(2×X)+.×÷Y",
    "X[⌽⍳13;]+.×Y[;3 3 1 4]",
    "((⍳9)∘.+⍳70)+.×Y",
    "(X+.×Y)+.×⍉11 11⍴⍉X",
    "(7 200⍴,X)+.×200 5⍴,Y",
    "U+.×⍉V",
    "U+.×0.5×⍉V",
    "U⌈.+⍉V",
    "U⌊.×⍉V",
    "U+.=⍉V",
    "U+.≠⍉V",
    "(U>0)∨.∧⍉V>1",
    "(U>0)∧.∨⍉V>1",
    "(U>0)+.∧⍉V>1",
    "X⌊.+Y",
    "X+.=Y",
    "(1E200×X)+.×1E150×Y",
    "(÷X-0.5)+.×Y",
    "(÷U)+.×⍉V",
    "(X×X=0.5)+.×-Y",
];

#[test]
fn products_by_blocks_are_equal() {
    let data = "X←13 70⍴÷1+97|⍳910 ⋄ Y←70 11⍴1-0.3×89|⍳770 ⋄ Z←11 70⍴(⍳770)*0.5 ⋄ U←13 \
                70⍴¯3+7|⍳910 ⋄ V←11 70⍴5|⍳770";
    all_equal(data, PRODUCTS);
}

/// Sums of so many products that these are taken unrounded, in each way in which they come: tiles,
/// rows, lines, blocks, cells, loops, and a few at once.
const DOTS: &[&str] = &[
    "A+.×B",
    "A+.×⍉A",
    "A+.×V",
    "V+.×B",
    "V+.×W",
    "V+.×0.1",
    "0.1+.×V",
    "(1-A)+.×÷B",
    "(⍉B)+.×V",
    "(⍉B-1)+.×V×W",
    "(9 5 100⍴A)+.×B",
    "(A+.×B)(A+.×÷B)",
    "⌈/1+2×A+.×B",
    "(+/A×⍤1⊢V)-A+.×V",
    "(A>0.5)+.×B",
    "(A>0.5)+.×B>0.5",
    "(⌊1E6×A)+.×⌊1E9×B",
    "(⌊1E9×V)+.×⌊1E9×W",
    "A+.×⌊1E6×B",
    "(⌊99×A)+.×B",
    "(3 3⍴V)+.×3 3⍴W",
    "(3 300⍴L)+.×300 3⍴W",
    "(⍉2×B)+.×1+⍉A",
    "(⍉4350 8⍴L)+.×4350 8⍴L",
    "(⍉700 16⍴L)+.×700 32⍴⌽L",
    "(⍉700 16⍴L)+.×700 13⍴⌽L",
    "(1 2000⍴L)+.×2000 1⍴⌽L",
    "(1 100⍴V)+.×B",
    "A+.×100 1⍴W",
    "(20 4 30⍴A)(+.×⍤2)20 30 9⍴B",
    "(20 3 4⍴A)(+.×⍤2)4 5⍴B",
    "(50 2 300⍴L)(+.×⍤2)300 4⍴B",
    "(4001 4 4⍴L)(+.×⍤2)4001 4 4⍴⌽L",
    "(70 50 4 4⍴L)(+.×⍤2)4 4⍴W",
    "(3 1500 5 3⍴L)(+.×⍤2)3 1500 3 7⍴⌽L",
    "(2 20000 2⍴L)(+.×⍤2)2 2 4⍴W",
    "+/,(3 7 5 4 4⍴L)(×⍤2)(3 7 5 4 4⍴L)(+.×⍤2)4 4⍴W",
    "(A+.×B)(+/A∘.×3⍴V)(⌈/A+.×B)",
    "(⌊1E5×A)+.×⍉⌊1E5×A",
    "L+.×⌽L",
    "(2 35000⍴L)+.×⌽35000↑L",
    "(2 35000⍴L)+.×35000 3⍴⌽L",
    "A(+.×⍤1)V",
    "A(+.×⍤1)⌽A",
    "{⍵+.×V}⍤1⊢A",
    "{⍵+.×V}¨↓A",
    "{0.6<⊃⍵:⍵+.×V ⋄ +/⍵}⍤1⊢A",
    "(↓A)∘.(+.×)↓⍉B",
    "{s←0 ⋄ s⊣{s+←⍵+.×V ⋄ 0}¨↓A}0",
    "{0.01×S+.×⍵}⍣5⊢V",
    "{⍵÷⌈/⍵}S+.×V",
    "(1E200×A)+.×1E150×B",
    "(A×A=⊃A)+.×-B",
    "(÷A-⊃A)+.×B",
    "A{⍺+.×⍵}B",
    "100+.×⍨9 100⍴⍳7",
    "((⍉B)+.×V)-+/⍉B",
    "(L+.×⌽L)-+/L",
];

const DOT_DATA: &str = "A←45 100⍴1-÷1+97|⍳4500 ⋄ B←100 21⍴0.3×÷1+89|⍳2100 ⋄ V←100⍴÷1+⍳100 ⋄ \
                        W←1-0.3×100⍴÷1+⍳31 ⋄ L←70000⍴÷1+997|⍳70000 ⋄ S←100 100⍴÷3+⍳101";

#[test]
fn sums_of_unrounded_products_are_equal() {
    all_equal(DOT_DATA, DOTS);
    all_equal(&format!("⎕FR←325 ⋄ {DOT_DATA}"), DOTS);
}

/// Places that are whole numbers in memory and a number: the number goes into the origin.
const MOVED: &[&str] = &[
    "{h←9⍴0 ⋄ h[1+⍵]+←1 ⋄ h}I",
    "{h←9⍴0 ⋄ h[⍵+1]+←⍵ ⋄ h}I",
    "{h←9⍴0.5 ⋄ h[⍵-¯2]⌈←F ⋄ h}I",
    "{h←2⍴0 ⋄ h[1+⍵]+←1 ⋄ h}B",
    "{h←9⍴0 ⋄ h[1+⍵]←⍳≢⍵ ⋄ h}I",
    "{h←'abcdefghi' ⋄ h[1+⍵]←'x' ⋄ h}I",
    "{h←9000⍴0 ⋄ h[J-3]-←F ⋄ h}0",
    "{h←9⍴0 ⋄ p←1+⍵ ⋄ h[p]+←1 ⋄ h[p]×←2 ⋄ h,+/p}I",
    "{⎕IO←0 ⋄ h←9⍴0 ⋄ h[⍵]+←1 ⋄ h[1+⍵]+←1 ⋄ h}I",
    "{h←6⍴0 ⋄ 0::h,⎕EN ⋄ h[1+⍵]+←1 ⋄ h}I",
    "{h←9⍴0 ⋄ 0::h,⎕EN ⋄ h[⍵]+←1 ⋄ h}I",
    "{h←9⍴0 ⋄ 3::h,0 ⋄ h[⍵-1]+←1 ⋄ h}I",
];

#[test]
fn places_that_are_moved_are_equal() {
    let data = "I←7|⍳5000 ⋄ B←0=3|⍳5000 ⋄ F←÷⍳5000 ⋄ J←4+9000|13×⍳5000";
    all_equal(data, MOVED);
    // Small and large numbers are in memory, or pending.
    let all = "I←I+0 ⋄ J←J+0 ⋄ {⍵}(+/I)(+/B)(+/J)";
    all_equal(&format!("{data} ⋄ {all}"), MOVED);
}

/// An index beyond its axis is told as it was written.
#[test]
fn a_moved_place_that_is_not_there_is_told_as_it_is() {
    let mut s = prepared_on("h←6⍴0 ⋄ I←7|⍳5000", false, None);
    s.value_of("I").map(drop).expect("a value");
    let told = s.value_of("h[1+I]+←1").map(drop).expect_err("no such place").to_string();
    assert!(told.contains('7'), "{told}");
    let kept = s.value_of("h").expect("a value");
    assert_eq!(kept.map(|kept| kept.shape().to_vec()), Some(vec![6]));
}

/// Rows that are columns of what they read: several of these are read together.
const COLUMNS: &[&str] = &[
    "⍉A",
    "1+⍉A",
    "A+⍉130 70⍴A",
    "(⍉A)×⍉A-1",
    "⌽⍉A",
    "⍉⌽A",
    "⊖⍉⊖A",
    "⍉69 129↑A",
    "⍉1 3↓A",
    "2 1 3⍉5 70 130⍴A",
    "1 3 2⍉3 70 130⍴A",
    "3 2 1⍉3 70 130⍴A",
    "⍉I",
    "1+⍉I",
    "(⍉A)×⍉I",
    "~⍉B",
    "(⍉B)/⍥,⍉A",
    "⍉T",
    "'e'=⍉T",
    "⍉71 20000⍴A",
    "⍉9 1030⍴A",
];

#[test]
fn columns_that_are_read_together_are_equal() {
    let data = "A←70 130⍴÷1+997|⍳9100 ⋄ I←70 130⍴⌊9100|7×⍳9100 ⋄ B←70 130⍴0=3|⍳9100 ⋄ \
                T←70 130⍴'the quick brown fox'";
    all_equal(data, COLUMNS);
    all_equal(&format!("⎕FR←325 ⋄ {data}"), COLUMNS);
}

/// A product is never written before it is added, whatever is off.
#[test]
fn no_switch_rounds_a_product() {
    let mut oracle = Oracle::on(DOT_DATA);
    let wanted: Vec<Outcome> = DOTS.iter().map(|line| oracle.value(line)).collect();
    for name in switches() {
        let mut s = prepared_on(DOT_DATA, true, Some(name));
        for (line, wanted) in DOTS.iter().zip(&wanted) {
            assert_eq!(&outcome(s.value_of(line)), wanted, "--off {name}: {line}");
        }
    }
    for preset in PRESETS.iter().map(|p| p.name) {
        let mut s = prepared_on(DOT_DATA, true, None);
        s.options().take(preset).expect("a pipeline");
        for (line, wanted) in DOTS.iter().zip(&wanted) {
            assert_eq!(&outcome(s.value_of(line)), wanted, "{preset}: {line}");
        }
    }
}

/// Sums whose terms are stored as well: of f32 they are read where they are stored.
const STORED: &[&str] = &[
    "{e←*⍵ ⋄ e÷⍤1 0⊢+/e}A",
    "{e←*⍵ ⋄ e,⍤1 0⊢+/e}70 20⍴A",
    "{e←*⍵ ⋄ e,⍤1 0⊢+/e}9 64⍴A",
    "{e←*⍵ ⋄ (+/e)(⌈/e)e}3 3000⍴A",
    "{e←*⍵ ⋄ (+/e)(×/e)e(+⌿e)}3 3000⍴A",
    "{e←*⍵ ⋄ (+/e)e}2 9000⍴A",
    "{e←*⍵ ⋄ (+/e)e}9000⍴A",
    "{e←*⍵ ⋄ f←÷1+⍵ ⋄ (+/e)(+/f)e f}A",
    "{e←*⍵ ⋄ f←⍵*3 ⋄ (+/e)(+/f)e}A",
    "{e←*88+⍵ ⋄ (+/e)e}A",
    "{e←÷⍵-⊃⍵ ⋄ (+/e)e}A",
    "{e←*⍵-⍤1 0⊢⌈/⍵ ⋄ e÷⍤1 0⊢+/e}A",
];

#[test]
fn sums_of_what_is_stored_are_equal() {
    let data = "A←70 130⍴÷1+997|⍳9100";
    all_equal(data, STORED);
    all_equal(&format!("⎕FR←325 ⋄ {data}"), STORED);
}

/// Intervals of few bounds, which are compared with all of them, and of more; groups of numbers
/// that are near each other; counts of keys.
const PLACED: &[&str] = &[
    "(0.1×⍳9)⍸X",
    "0 0.5 0.5 1⍸X",
    "(,0.5)⍸2 1500⍴X",
    "(⍳30)⍸K",
    "¯5 0 7⍸K",
    "⍬⍸X",
    "0.5 0.2⍸X",
    "1E300 0⍸X",
    "{⎕IO←0 ⋄ (0.25×⍳4)⍸⍵}X",
    "{⎕CT←1E¯10 ⋄ 1 2⍸1-1E¯12×⍵}K",
    "+/0.25 0.75⍸X",
    "(0.25 0.75⍸X)⊃¨⊂1 2 3",
    "0.25 0.75⍸⍤1⊢2 1500⍴X",
    "⎕A⍸X",
    "∪(⍳40000)÷7",
    "∪⌽(⍳40000)×1E¯15",
    "∪1+(⍳40000)×1E¯13",
    "(≢∪1+(⍳40000)×1E¯14),≢∪1,1+(⍳40000)×1E¯13",
    "+/≠(⍳40000)÷7",
    "∪1+1E¯15×3|⍳3000",
    "∪1+1E¯14×7|⍳3000",
    "∪,1E¯14 0∘.+X",
    "≠X,X×1+1E¯15",
    "X⍳X×1+1E¯15",
    "X∊0.5,10↑X-1E¯16",
    "{≢⍵}⌸K",
    "{⍴⍵}⌸K",
    "{⍺,≢⍵}⌸K",
    "{⍺(≢⍵)}⌸K",
    "{⍺}⌸K",
    "{≢⍵}⌸⎕UCS 97+9|⍳3000",
    "{≢⍵}⌸K>4",
    "{≢⍵}⌸3000 1⍴K",
    "K{⌽⍵}⌸X",
    "(K/K)+.×K/X",
    "(3|K)/2 3000⍴K",
];

#[test]
fn places_and_groups_of_numbers_are_equal() {
    let data = "K←¯3+17|(⍳3000)*2 ⋄ X←(1+7919|(⍳3000)*3)÷8000";
    all_equal(data, PLACED);
}
