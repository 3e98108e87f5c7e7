//! An evaluation that leaves the reals gives what single operations give. What single lines print
//! is `text/complex.txt`.

use super::{run, run_in, with_stack};
use crate::eval::Interp;
use crate::testing::Host;

/// Each line gives 1: a long vector, recorded, against the same operation on items or short pieces
/// of it.
const REPLAYED: &[&str] = &[
    "V←¯50000+⍳100000 ⋄ (V*.5)≡∊{⍵*.5}¨100 1000⍴V",
    "V←¯50000+⍳100000 ⋄ ({⍵*.5}V)≡{⍵*.5}¨V",
    "V←¯3000+⍳5000 ⋄ ((2×1+⍟0.5+V)-V)≡{(2×1+⍟0.5+⍵)-⍵}¨V",
    "V←¯3000+⍳5000 ⋄ (+V*.5)≡{+⍵*.5}¨V",
    "V←¯3000+⍳5000 ⋄ (|V*.5)≡{|⍵*.5}¨V",
    "V←¯3000+⍳5000 ⋄ (9○V*.5)≡{9○⍵*.5}¨V",
    "V←¯3000+⍳5000 ⋄ (+⌊V*.5)≡{+⌊⍵*.5}¨V",
    "V←¯3000+⍳5000 ⋄ (⌽V*÷3)≡⌽{⍵*÷3}¨V",
    "V←¯3000+⍳5000 ⋄ (50 100⍴V*.5)≡50 100⍴{⍵*.5}¨V",
    "V←¯3000+⍳5000 ⋄ (7000↑V*.5)≡({⍵*.5}¨V),2000⍴0",
    "V←¯3000+⍳5000 ⋄ (+/V*.5)=+/{⍵*.5}¨V",
    "V←¯3000+⍳5000 ⋄ (-/V*.5)=-/{⍵*.5}¨V",
    "V←¯3000+⍳5000 ⋄ (+⌿50 100⍴V*.5)≡+⌿50 100⍴{⍵*.5}¨V",
    "V←¯3000+⍳5000 ⋄ (0○V)≡{0○⍵}¨V",
    "V←¯3000+⍳5000 ⋄ (¯1○V)≡{¯1○⍵}¨V",
    "V←¯3000+⍳5000 ⋄ a←V*.5 ⋄ b←a×a ⋄ c←+/a ⋄ b≡V",
    // A value that became complex is an input of what was recorded before.
    "V←¯3000+⍳5000 ⋄ a←V*.5 ⋄ b←1+a ⋄ x←+/a ⋄ b≡1+{⍵*.5}¨V",
    // Recorded under another tolerance than it runs under.
    "V←¯3000+⍳5000 ⋄ a←(⍳5000)=V*.5 ⋄ ⎕CT←0 ⋄ 0=+/a",
    "V←(¯3000+⍳5000)*.5 ⋄ (V×V)≡¯3000+⍳5000",
    "V←⍳5000 ⋄ (0J1+V)≡{0J1+⍵}¨V",
    "V←⍳5000 ⋄ (0J1×V×2)≡{0J1×⍵×2}¨V",
    "V←⍳5000 ⋄ (+/0J1×V)=0J12502500",
    "V←⍳5000 ⋄ ((V∘.×0J1 1)[;1])≡V×0J1",
];

#[test]
fn a_long_vector_gives_what_its_items_give() {
    let wrong = with_stack(|| {
        let answer = |line: &&&str| [false, true].into_iter().any(|all| run(line, all) != "1");
        REPLAYED
            .iter()
            .filter(answer)
            .map(|l| format!("{l}: {:?} {:?}", run(l, false), run(l, true)))
            .collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The operation that fails is named, whether it stands below or above the one that leaves the
/// reals.
#[test]
fn an_error_beside_complex_results_is_reported_where_it_was_written() {
    let cases = [
        ("V←¯3000+⍳5000 ⋄ (÷V)+V*.5", "÷"),
        ("V←¯3000+⍳5000 ⋄ (V*.5)+÷V", "÷"),
        ("V←¯3000+⍳5000 ⋄ 1<1+V*.5", "<"),
        ("V←¯3000+⍳5000 ⋄ ⌈/V*.5", "⌈/"),
        ("V←¯3000+⍳5000 ⋄ 2×÷0×V*.5", "÷"),
        ("V←⍳5000 ⋄ 0J1+÷V-7", "÷"),
        // Nobody looks at it.
        ("V←¯3000+⍳5000 ⋄ {x←⌈/V*.5 ⋄ 5}0", "⌈/"),
        ("V←¯3000+⍳5000 ⋄ (0J1<V)≠⌈/V*.5", "⌈/"),
    ];
    for (text, at) in cases {
        for all in [false, true] {
            let mut interp = Interp::new();
            interp.set_record_all(all);
            let e = interp
                .execute(&aplomb_ground::span::Source::new("test", text), &mut Host::default())
                .unwrap_err();
            let place = e.parts().place.clone().map(|p| p.text()).unwrap_or_default();
            assert_eq!(
                (e.kind().name(), e.leaves_reals(), place.as_str()),
                ("DOMAIN ERROR", false, at),
                "{text} {all}"
            );
        }
    }
}

#[test]
fn what_became_complex_stays_lazy_beside_what_is_real() {
    let (mut interp, mut host) = (Interp::new(), Host::default());
    run_in(&mut interp, &mut host, "V←¯3000+⍳5000 ⋄ a←V*.5 ⋄ b←V×2");
    assert_eq!(host.forces, 0);
    assert_eq!(run_in(&mut interp, &mut host, "2↑a"), "0J54.76312628 0J54.75399529\n");
    let after = host.forces;
    assert_eq!(run_in(&mut interp, &mut host, "2↑b"), "¯5998 ¯5996\n");
    assert!(host.forces > after);
    assert_eq!(run_in(&mut interp, &mut host, "{0::'caught' ⋄ x←V*.5 ⋄ ≢x}0"), "5000\n");
}
