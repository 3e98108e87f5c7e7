//! Columns come from files of others and go back as they were; what no array holds is refused.
//!
//! `examples/` holds what pyarrow 26, pandas 3.1 (packed) and polars 2.1 (texts as views) wrote.

use super::super::tests::{Folder, budget, items};
use super::*;
use aplomb_ground::limits::Interrupt;
use aplomb_values::array::{Array, DType};
use arrow_array::{ArrayRef, Int64Array, ListArray, RecordBatch, UInt64Array, types};
use arrow_ipc::writer::StreamWriter;
use std::sync::Arc;

const PYARROW: &[u8] = include_bytes!("examples/pyarrow.arrow");
const PANDAS: &[u8] = include_bytes!("examples/pandas.feather");
const POLARS: &[u8] = include_bytes!("examples/polars.arrow");

type Columns = Vec<(String, Array)>;

fn read(bytes: &[u8], budget: &Budget) -> Result<Columns> {
    super::columns(bytes.to_vec(), budget)
}

fn column<'a>(all: &'a Columns, name: &str) -> &'a Array {
    &all.iter().find(|c| c.0 == name).unwrap_or_else(|| panic!("no {name}")).1
}

fn words(array: &Array) -> Vec<String> {
    array.in_turn().map(|text| text.disclosed().word().unwrap()).collect()
}

fn text(text: &str) -> Array {
    Array::text(text, &budget()).unwrap()
}

fn numbers(shape: &[usize], v: &[f64]) -> Array {
    Array::numbers(shape, v.to_vec(), &budget()).unwrap()
}

/// A stream of columns that the arrow crates write.
fn stream(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut out = Vec::new();
    let mut to = StreamWriter::try_new(&mut out, &batch.schema()).unwrap();
    to.write(&batch).unwrap();
    to.finish().unwrap();
    out
}

#[test]
fn every_type_of_column_is_read() {
    let all = read(PYARROW, &budget()).unwrap();
    let is = |name: &str, dtype: DType, v: &[f64]| {
        let array = column(&all, name);
        assert_eq!((array.dtype(), items(array).as_slice()), (dtype, v), "{name}");
    };
    is("i8", DType::I8, &[1.0, -2.0, 3.0]);
    is("n", DType::F64, &[1.0, 2f64.powi(53), -5.0]);
    is("u", DType::I16, &[0.0, 255.0, 7.0]);
    is("h", DType::F32, &[0.5, -2.0, 65504.0]);
    is("f", DType::F32, &[0.5, 1.5, -2.0]);
    is("x", DType::F64, &[0.1, 1e300, f64::NEG_INFINITY]);
    is("b", DType::Bool, &[1.0, 0.0, 1.0]);
    let times = |name: &str, v: &[f64]| assert_eq!(items(column(&all, name)), v, "{name}");
    times("day", &[86_400.0, 1_709_164_800.0, -86_400.0]);
    times("t", &[1_709_208_000.25; 3]);
    times("ns", &[1.5, 0.0, -1e-9]);
    times("clock", &[3_600.0; 3]);
    times("for", &[90.0; 3]);
    times("r.k", &[1.5, 2.5, 3.5]);
    let m = column(&all, "m");
    assert_eq!((m.shape(), items(m)), (&[3, 2][..], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    for (name, each) in [
        ("s", ["Ann", "", "Ωé"]),
        ("big", ["a", "bb", "c"]),
        ("c", ["x", "y", "x"]),
        ("r.w", ["a", "b", "c"]),
        ("v", ["short", "a much longer text than twelve", "z"]),
    ] {
        assert_eq!(words(column(&all, name)), each, "{name}");
    }
    for bytes in [PANDAS, POLARS] {
        let all = read(bytes, &budget()).unwrap();
        assert_eq!(
            (items(column(&all, "a")), words(column(&all, "s"))),
            (vec![1.0, 2.0], vec!["x".to_string(), "yy".to_string()])
        );
    }
    assert_eq!(words(column(&read(POLARS, &budget()).unwrap(), "c")), ["p", "q"]);
}

#[test]
fn what_no_array_holds_is_refused_with_its_place() {
    let says = |columns| read(&stream(columns), &budget()).err().unwrap().to_string();
    let whole = |v: Vec<Option<i64>>| Arc::new(Int64Array::from(v)) as ArrayRef;
    let told = says(vec![("a", whole(vec![Some(1)])), ("b", whole(vec![None]))]);
    assert!(told.contains("column b, row 1: there is no item (null)"), "{told}");
    let told = says(vec![("n", whole(vec![Some(0), Some(-(1 << 53) - 1)]))]);
    assert!(told.contains("column n, row 2: -9007199254740993"), "{told}");
    let told = says(vec![("u", Arc::new(UInt64Array::from(vec![u64::MAX])))]);
    assert!(told.contains("column u, row 1: 18446744073709551615"), "{told}");
    let list = ListArray::from_iter_primitive::<types::Int32Type, _, _>([Some([Some(1)])]);
    let told = says(vec![("l", Arc::new(list))]);
    assert!(told.contains("column l is of the type List"), "{told}");
    let told = says(vec![("x", whole(vec![Some(1)])), ("x", whole(vec![Some(1)]))]);
    assert!(told.contains("two columns in it are called x"), "{told}");
}

#[test]
fn columns_come_back_as_they_were_written() {
    let folder = Folder::new("arrow");
    let names = Array::items([2].as_slice(), vec![text("ab"), text("")], None);
    let arrays: Columns = vec![
        ("whole".into(), numbers(&[2], &[1.0, 0.0])),
        ("cube".into(), numbers(&[2, 2, 2], &[0.5; 8])),
        ("wide".into(), numbers(&[2, 0, 3], &[])),
        ("names".into(), names),
        ("letters".into(), text("⍴é")),
        ("when".into(), numbers(&[2], &[86_400.0, -0.25])),
    ];
    let put = |path: &Path, arrays: &Columns, how: Option<&str>| {
        let all = Arrays::Named(arrays.clone());
        write_arrow(path, &all, how, &budget(), &Interrupt::default())
    };
    for (name, how) in [("a.arrow", None), ("a.arrows", None), ("a.feather", Some("lz4"))] {
        let path = folder.0.join(name);
        put(&path, &arrays, how).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.starts_with(b"ARROW1"), name != "a.arrows", "{name}");
        let back = read(&bytes, &budget()).unwrap();
        for (name, array) in &arrays {
            let again = column(&back, name);
            assert_eq!(again.shape(), array.shape(), "{name}");
            match name.as_str() {
                "names" => assert_eq!(words(again), ["ab", ""]),
                "letters" => assert_eq!(words(again), ["⍴", "é"]),
                _ => assert_eq!(items(again), items(array), "{name}"),
            }
        }
        assert_eq!(column(&back, "whole").dtype(), DType::I32, "int64 in the file");
    }
    let path = folder.0.join("t.arrow");
    put(&path, &arrays, Some("when:M8[ms] whole:bool cube:f2")).unwrap();
    let back = read(&std::fs::read(&path).unwrap(), &budget()).unwrap();
    assert_eq!(items(column(&back, "when")), [86_400.0, -0.25]);
    assert_eq!(
        (column(&back, "whole").dtype(), column(&back, "cube").dtype()),
        (DType::Bool, DType::F32)
    );
    for (how, told) in [
        ("when:i8", "column when: item 2 of 2, -0.25, is no int64"),
        ("names:i8", "column names: text is no int64"),
        ("no:i8", "there is no column no"),
        ("whole:i3", "there are b1 i1"),
        ("packed", "'packed' is no 'column:type', nor 'lz4'"),
    ] {
        let says = put(&path, &arrays, Some(how)).err().unwrap().to_string();
        assert!(says.contains(told), "{how}: {says}");
    }
    let uneven = vec![arrays[0].clone(), ("three".into(), numbers(&[3], &[1.0; 3]))];
    let says = put(&path, &uneven, None).err().unwrap().to_string();
    assert!(says.contains("column three has 3 rows, and whole has 2"), "{says}");
    let says = put(&path, &vec![("one".into(), Array::num(1.0))], None).err().unwrap();
    assert!(says.to_string().contains("column one: a column has rows"), "{says}");
}

/// Files that were hit at some places are read, or refused in words.
#[test]
fn broken_files_of_arrow_are_refused_or_read() {
    let folder = Folder::new("arrow-mutated");
    let path = folder.0.join("m.arrows");
    let names = Array::items([2].as_slice(), vec![text("abcdefgh"), text("")], None);
    let all = vec![("x".into(), numbers(&[2, 2], &[0.5; 4])), ("names".into(), names)];
    write_arrow(&path, &Arrays::Named(all), Some("lz4"), &budget(), &Interrupt::default()).unwrap();
    let own = std::fs::read(&path).unwrap();
    let mut seed = 22u64;
    let mut next = move |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    for whole in [PYARROW, PANDAS, POLARS, &own] {
        let mut counts = [0, 0];
        for _ in 0..500 {
            let mut bytes = whole.to_vec();
            for _ in 0..=next(3) {
                let at = next(bytes.len());
                match next(8) {
                    0 => bytes.truncate(at.max(1)),
                    1..4 => bytes[at] = next(256) as u8,
                    _ => bytes[at] ^= 1 << next(8),
                }
            }
            let got = read(&bytes, &Budget::new(1 << 20));
            counts[usize::from(got.is_ok())] += 1;
            if let Err(e) = got {
                assert!(!e.to_string().contains("INTERNAL"), "{e}");
            }
        }
        assert!(counts.iter().all(|n| *n > 5), "{counts:?}");
    }
}
