//! Files come back as they were written; what is wrong with one is said.

use super::*;
use aplomb_devices::pool::Pool;
use aplomb_language::eval::host::Arrays;
use aplomb_values::array::{Array, Buf, Complex64, DType, Data};
use std::sync::Arc;

/// A folder of its own that goes when the test ends.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("aplomb-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        write_file(&path, bytes, &Interrupt::default()).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn budget() -> Budget {
    Budget::new(1 << 30)
}

pub fn items(array: &Array) -> Vec<f64> {
    match array.data() {
        Data::Num(x, _) => vec![*x],
        Data::Dense(b) => b.view().each().collect(),
        _ => panic!("not numbers"),
    }
}

fn write(path: &Path, array: &Array) -> Result<()> {
    put(path, array, None)
}

fn put(path: &Path, array: &Array, named: Option<&str>) -> Result<()> {
    let one = Arrays::One(array.clone());
    write_npy(path, &one, named, &budget(), &Interrupt::default())
}

/// The one array of a file.
fn read_npy(path: &Path, pool: &Pool, budget: &Budget) -> Result<Array> {
    match super::read_npy(path, pool, budget)? {
        Arrays::One(array) => Ok(array),
        Arrays::Named(_) => panic!("several arrays"),
    }
}

fn npy(descr: &str, fortran: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let descr = if descr.starts_with('[') { descr.into() } else { format!("'{descr}'") };
    let mut text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    while (text.len() + 11) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text.bytes());
    out.extend(bytes);
    out
}

#[test]
fn every_number_type_comes_back_from_npy() {
    let folder = Folder::new("npy");
    let path = folder.0.join("a.npy");
    for dtype in [DType::Bool, DType::I8, DType::I16, DType::I32, DType::F32, DType::F64] {
        for shape in [vec![0], vec![6], vec![2, 3], vec![2, 0, 3]] {
            let n: usize = shape.iter().product();
            let values: Vec<f64> = (0..n).map(|k| (k % 2) as f64).collect();
            let array = Array::dense(
                shape.as_slice(),
                Arc::new(Buf::stored(&values, dtype, &budget()).unwrap()),
            );
            write(&path, &array).unwrap();
            let back = read_npy(&path, &Pool::default(), &budget()).unwrap();
            let is_float = matches!(dtype, DType::F32 | DType::F64);
            // Whole numbers are int64 in the file: never as narrow as they happen to be here.
            let header = if is_float { &b"'<f"[..] } else { b"'<i8'" };
            let bytes = fs::read(&path).unwrap();
            assert!(bytes.windows(header.len()).any(|w| w == header), "{dtype:?}");
            assert_eq!(
                (back.dtype(), back.shape(), items(&back)),
                (if is_float { dtype } else { DType::I32 }, shape.as_slice(), values)
            );
        }
    }
    write(&path, &Array::num(2.5)).unwrap();
    let back = read_npy(&path, &Pool::default(), &budget()).unwrap();
    assert_eq!((back.rank(), items(&back)), (0, vec![2.5]));
    write(&path, &Array::char('a')).unwrap();
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "no half-written files stay");
}

#[test]
fn a_named_type_is_written_exactly_or_not_at_all() {
    let folder = Folder::new("npy-named");
    let path = folder.0.join("n.npy");
    let put = |v: &[f64], name: &str| {
        let array = Array::numbers([v.len()].as_slice(), v.to_vec(), &budget()).unwrap();
        put(&path, &array, Some(name))
    };
    for (name, descr) in [
        ("i1", "|i1"),
        ("uint8", "|u1"),
        ("i4", "<i4"),
        ("f4", "<f4"),
        ("bool", "|b1"),
        ("f8", "<f8"),
    ] {
        put(&[1.0, 0.0, 1.0], name).unwrap();
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        assert!(text.contains(&format!("'{descr}'")), "{name}: {text}");
        let back = read_npy(&path, &Pool::default(), &budget()).unwrap();
        assert_eq!(items(&back), [1.0, 0.0, 1.0], "{name}");
    }
    for (v, name) in [(128.0, "i1"), (-1.0, "u4"), (0.5, "i8"), (2.0, "bool"), (1e300, "int64")] {
        let says = put(&[1.0, v], name).err().unwrap().to_string();
        assert!(says.contains("item 2 of 2") && says.contains("is no "), "{says}");
    }
    assert!(put(&[1.0], "i3").is_err_and(|e| e.to_string().contains("there are b1 i1")));
    let says = write(&folder.0.join("q.npz"), &Array::num(1.0)).err().unwrap().to_string();
    assert!(says.contains("arrays by name") && !folder.0.join("q.npz").exists(), "{says}");
    let says = read_npy(&folder.file("r.npz", b"PK\x03\x04...."), &Pool::default(), &budget());
    assert!(says.err().unwrap().to_string().contains("this is no .npz file"));
}

#[test]
fn floats_of_16_bits_are_read() {
    let folder = Folder::new("npy-half");
    let bits: Vec<u8> = [0x3c00u16, 0xc000, 0x3555, 0x0001, 0x7bff, 0x7c00, 0x8000]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let read = |bytes: &[u8]| read_npy(&folder.file("h.npy", bytes), &Pool::default(), &budget());
    let a = read(&npy("<f2", false, "(7,)", &bits)).unwrap();
    let wanted = [1.0, -2.0, 0.333251953125, 2f64.powi(-24), 65504.0, f64::INFINITY, 0.0];
    assert_eq!((a.dtype(), items(&a)), (DType::F32, wanted.to_vec()));
}

/// The type of records of a number and a text.
const RECORD: &str = "[('n', '<f8'), ('s', '<U2')]";

/// The bytes of a .npz file of numbers and texts.
fn packed(folder: &Folder, how: &str) -> Vec<u8> {
    let path = folder.0.join("p.npz");
    let numbers = Array::numbers([2usize, 3].as_slice(), vec![0.5; 6], &budget()).unwrap();
    let all = vec![("x".into(), numbers), ("name".into(), Array::text("abc", &budget()).unwrap())];
    let arrays = Arrays::Named(all);
    write_npy(&path, &arrays, Some(how), &budget(), &Interrupt::default()).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn arrays_come_back_from_npz_by_their_names() {
    let folder = Folder::new("npz");
    let pool = Pool::default();
    for how in ["stored", "deflated"] {
        let path = folder.file("a.npz", &packed(&folder, how));
        let all = read_npz(&path, &pool, &budget()).unwrap();
        assert_eq!(all.iter().map(|a| a.0.as_str()).collect::<Vec<_>>(), ["x", "name"]);
        assert_eq!((all[0].1.shape(), items(&all[0].1)), (&[2, 3][..], vec![0.5; 6]), "{how}");
        assert_eq!(all[1].1.word().as_deref(), Some("abc"));
    }
    let one = Arrays::Named(Vec::new());
    let says = write_npy(&folder.0.join("a.npy"), &one, None, &budget(), &Interrupt::default());
    assert!(says.err().unwrap().to_string().contains("these have names"));
}

#[test]
fn texts_times_and_records_are_read() {
    let folder = Folder::new("npy-other");
    let read = |descr: &str, shape: &str, bytes: &[u8]| {
        read_npy(
            &folder.file("o.npy", &npy(descr, false, shape, bytes)),
            &Pool::default(),
            &budget(),
        )
    };
    let wide: Vec<u8> = "ab⍴\0".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let texts = read("<U2", "(2,)", &wide).unwrap();
    let each: Vec<Option<String>> = texts.in_turn().map(|t| t.word()).collect();
    assert_eq!(each, [Some("ab".into()), Some("⍴".into())]);
    assert_eq!(read("<U4", "()", &wide).unwrap().word().as_deref(), Some("ab⍴"));
    assert_eq!(read("|S1", "(3,)", b"xyz").unwrap().word().as_deref(), Some("xyz"));
    let moments: Vec<u8> = [86_400_500i64, i64::MIN].iter().flat_map(|n| n.to_le_bytes()).collect();
    let times = items(&read("<M8[ms]", "(2,)", &moments).unwrap());
    assert!(times[0] == 86_400.5 && times[1].is_nan());
    let says = read("<U1", "(1,)", &[0xff; 4]).err().unwrap().to_string();
    assert!(says.contains("item 1 of 1 is no text"), "{says}");
    let mut row = 2.5f64.to_le_bytes().to_vec();
    row.extend(&wide[..8]);
    let path = folder.file("r.npy", &npy(RECORD, false, "(1,)", &row));
    let Ok(Arrays::Named(columns)) = super::read_npy(&path, &Pool::default(), &budget()) else {
        panic!("columns")
    };
    assert_eq!((columns[0].0.as_str(), items(&columns[0].1)), ("n", vec![2.5]));
    assert_eq!(columns[1].1.in_turn().next().and_then(|t| t.word()).as_deref(), Some("ab"));
}

#[test]
fn texts_halves_and_moments_are_written_as_numpy_has_them() {
    let folder = Folder::new("npy-written");
    let path = folder.0.join("w.npy");
    let back = |array: &Array, named: Option<&str>, descr: &str| {
        put(&path, array, named).unwrap();
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(text.contains(&format!("'{descr}'")), "{text}");
        assert_eq!(bytes.iter().position(|b| *b == b'\n').map(|end| (end + 1) % 64), Some(0));
        read_npy(&path, &Pool::default(), &budget()).unwrap()
    };
    let text = |text: &str| Array::text(text, &budget()).unwrap();
    let two = Array::items([2].as_slice(), vec![text("ab"), text("cde")], None);
    let again: Vec<_> = back(&two, None, "<U3").in_turn().map(|t| t.word()).collect();
    assert_eq!(again, [Some("ab".into()), Some("cde".into())]);
    assert_eq!(back(&text("cde"), None, "<U1").word().as_deref(), Some("cde"));
    let numbers = |v: &[f64]| Array::numbers([v.len()].as_slice(), v.to_vec(), &budget()).unwrap();
    let halves = [0.0, 1.0, -2.0, 0.333251953125, 65504.0, 1e9, 2f64.powi(-24), 2049.0, 1e-9];
    let wanted =
        [0.0, 1.0, -2.0, 0.333251953125, 65504.0, f64::INFINITY, 2f64.powi(-24), 2048.0, 0.0];
    assert_eq!(items(&back(&numbers(&halves), Some("f2"), "<f2")), wanted);
    let moments = [1_709_164_800.0, 0.5];
    assert_eq!(items(&back(&numbers(&moments), Some("M8[ms]"), "<M8[ms]")), moments);
    let mixed = Array::items([2].as_slice(), vec![text("ab"), Array::num(1.0)], None);
    assert!(write(&path, &mixed).err().unwrap().to_string().contains("and not both"));
}

/// Files that were hit at some places are read, or refused in words.
#[test]
fn broken_files_are_refused_or_read() {
    let folder = Folder::new("mutated");
    let mut seed = 22u64;
    let mut next = move |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    let data: Vec<u8> = (0..48).collect();
    let whole = [
        npy("<f8", false, "(2, 3)", &data),
        npy("<i8", true, "(2, 3)", &data),
        npy("<c16", false, "(3,)", &data),
        png(&Array::numbers([4usize, 4].as_slice(), vec![0.5; 16], &budget()).unwrap(), &budget())
            .unwrap(),
        npy("<U2", false, "(2, 3)", &[b'a', 0, 0, 0].repeat(12)),
        npy("<M8[s]", false, "(6,)", &data),
        npy(RECORD, false, "(3,)", &data),
        packed(&folder, "stored"),
        packed(&folder, "deflated"),
    ];
    let mut counts = [0, 0];
    for k in 0..200 * whole.len() {
        let mut bytes = whole[k % whole.len()].clone();
        for _ in 0..=next(3) {
            let at = next(bytes.len());
            match next(3) {
                0 => bytes[at] = next(256) as u8,
                1 => bytes[at] ^= 1 << next(8),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let small = Budget::new(1 << 20);
        let got = match k % 4 {
            3 => read_picture(&folder.file("m.png", &bytes), &small),
            _ => super::read_npy(&folder.file("m.npy", &bytes), &Pool::default(), &small)
                .map(|_| Array::num(0.0)),
        };
        counts[usize::from(got.is_ok())] += 1;
        if let Err(e) = got {
            assert!(!e.to_string().contains("INTERNAL"), "{e}");
        }
    }
    assert!(counts.iter().all(|n| *n > 20), "{counts:?}");
}

#[test]
fn complex_numbers_come_back_from_npy() {
    let folder = Folder::new("npy-complex");
    let path = folder.0.join("z.npy");
    let z = |re, im| Complex64::new(re, im);
    let read = |descr: &str, fortran, shape: &str, parts: &[Vec<u8>]| {
        read_npy(
            &folder.file("z.npy", &npy(descr, fortran, shape, &parts.concat())),
            &Pool::default(),
            &budget(),
        )
    };
    let values = vec![z(1.0, -2.0), z(3.0, 0.0), z(0.5, 1e-300), z(-4.0, 5.0)];
    for shape in [vec![4], vec![2, 2]] {
        let array = Array::complexes(shape.as_slice(), values.clone(), &budget()).unwrap();
        write(&path, &array).unwrap();
        let back = read_npy(&path, &Pool::default(), &budget()).unwrap();
        assert_eq!(
            (back.dtype(), back.shape(), back.to_complexes(&Budget::new(1 << 20)).unwrap()),
            (DType::Complex, shape.as_slice(), Some(values.clone()))
        );
    }
    write(&path, &Array::complex(z(0.0, 1.0))).unwrap();
    assert_eq!(
        read_npy(&path, &Pool::default(), &budget()).unwrap().complex_scalar(),
        Some(z(0.0, 1.0))
    );
    let le: Vec<_> = [1.0f64, 2.0, 3.0, 0.0].iter().map(|x| x.to_le_bytes().to_vec()).collect();
    assert_eq!(
        read("<c16", false, "(2,)", &le).unwrap().to_complexes(&Budget::new(1 << 20)).unwrap(),
        Some(vec![z(1.0, 2.0), z(3.0, 0.0)])
    );
    let be: Vec<_> = [1.0f32, 2.0, 3.0, 4.0].iter().map(|x| x.to_be_bytes().to_vec()).collect();
    assert_eq!(
        read(">c8", false, "(2,)", &be).unwrap().to_complexes(&Budget::new(1 << 20)).unwrap(),
        Some(vec![z(1.0, 2.0), z(3.0, 4.0)])
    );
    let columns: Vec<_> = (0..8).map(|x| f64::from(x).to_le_bytes().to_vec()).collect();
    let turned = Some(vec![z(0.0, 1.0), z(4.0, 5.0), z(2.0, 3.0), z(6.0, 7.0)]);
    assert_eq!(
        read("<c16", true, "(2, 2)", &columns)
            .unwrap()
            .to_complexes(&Budget::new(1 << 20))
            .unwrap(),
        turned
    );
    let real: Vec<_> = [1.5f64, -0.0, 2.0, 0.0].iter().map(|x| x.to_le_bytes().to_vec()).collect();
    let real = read("<c16", false, "(2,)", &real).unwrap();
    assert_eq!((real.dtype(), items(&real)), (DType::F64, vec![1.5, 2.0]));
    assert!(read("<c16", false, "(3,)", &le).is_err());
}

#[test]
fn integers_of_other_programs_go_upwards() {
    let folder = Folder::new("npy-int");
    let read = |descr: &str, fortran, shape: &str, bytes: &[u8]| {
        read_npy(
            &folder.file("b.npy", &npy(descr, fortran, shape, bytes)),
            &Pool::default(),
            &budget(),
        )
    };
    let i64s = |v: &[i64]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    let a = read("<i8", false, "(2,)", &i64s(&[1, -7])).unwrap();
    assert_eq!((a.dtype(), items(&a)), (DType::I32, vec![1.0, -7.0]));
    let a = read("<i8", false, "(1,)", &i64s(&[1 << 40])).unwrap();
    assert_eq!((a.dtype(), items(&a)), (DType::F64, vec![(1u64 << 40) as f64]));
    let says = read("<i8", false, "(1,)", &i64s(&[(1 << 53) + 1])).err().unwrap().to_string();
    assert!(
        says.contains("9007199254740993") && says.contains("2*53") && says.contains("b.npy"),
        "{says}"
    );
    assert_eq!(read("|u1", false, "(2,)", &[0, 1]).unwrap().dtype(), DType::Bool);
    assert_eq!(items(&read("|u1", false, "(2,)", &[0, 200]).unwrap()), [0.0, 200.0]);
    assert_eq!(read("|u1", false, "(2,)", &[0, 2]).unwrap().dtype(), DType::I16);
    assert_eq!(items(&read(">i2", false, "(2,)", &[255, 254, 0, 5]).unwrap()), [-2.0, 5.0]);
    assert_eq!(
        items(&read("|i1", true, "(2, 3)", &[1, 4, 2, 5, 3, 6]).unwrap()),
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    );
    assert_eq!(items(&read("|b1", false, "(2,)", &[7, 0]).unwrap()), [1.0, 0.0]);
}

#[test]
fn a_bad_npy_says_what_is_wrong() {
    let folder = Folder::new("npy-bad");
    let says = |bytes: &[u8]| {
        let got = read_npy(&folder.file("c.npy", bytes), &Pool::default(), &Budget::new(1 << 20));
        got.err().unwrap().to_string()
    };
    assert!(says(b"not numpy at all").starts_with("DOMAIN ERROR"));
    assert!(
        says(&npy("<f8", false, "(3,)", &[0; 16])).contains("announced")
            || says(&npy("<f8", false, "(3,)", &[0; 16])).contains("ends before")
    );
    assert!(says(&npy("|O", false, "(1,)", &[0; 8])).contains("can be read"));
    assert!(says(&npy("<f8", false, "(9007199254740993,)", &[])).starts_with("WS FULL"));
    let missing = read_npy(&folder.0.join("none.npy"), &Pool::default(), &budget()).err().unwrap();
    assert_eq!(missing.kind(), Kind::FileName);
    assert_eq!(read_file(&folder.0, &budget()).err().unwrap().kind(), Kind::FileName);
}

#[test]
fn a_file_is_replaced_as_a_whole() {
    let folder = Folder::new("plain");
    let path = folder.file("x", b"old");
    let broken = write_with(&path, (&Interrupt::default(), 3), |out| {
        out.write_all(b"half")?;
        Err(std::io::Error::other("disk full"))
    });
    assert_eq!(broken.err().unwrap().kind(), Kind::FileAccess);
    assert_eq!(read_file(&path, &budget()).unwrap(), b"old");
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    assert_eq!(read_file(&path, &Budget::new(2)).err().unwrap().kind(), Kind::WsFull);
}

/// A picture in the text form of PGM (`P2`) or PPM (`P3`).
fn plain(folder: &Folder, kind: &str, most: u32, samples: &[u32]) -> PathBuf {
    let text: Vec<String> = samples.iter().map(u32::to_string).collect();
    let text = format!("{kind}\n3 2\n{most}\n{}\n", text.join(" "));
    folder.file(&format!("{kind}-{most}.pnm"), text.as_bytes())
}

fn picture(shape: &[usize], values: &[f64]) -> Array {
    Array::dense(shape, Arc::new(Buf::stored(values, DType::F64, &budget()).unwrap()))
}

#[test]
fn pictures_come_back_as_planes_of_rows_and_columns() {
    let folder = Folder::new("picture");
    let read = |path: &Path| {
        let a = read_picture(path, &budget()).unwrap();
        (a.shape().to_vec(), items(&a))
    };
    let grey = plain(&folder, "P2", 255, &[0, 1, 2, 253, 254, 255]);
    assert_eq!(read(&grey), (vec![2, 3], vec![0.0, 1.0, 2.0, 253.0, 254.0, 255.0]));
    let deep = plain(&folder, "P2", 65535, &[0, 1, 256, 65535, 4, 5]);
    assert_eq!(read(&deep), (vec![2, 3], vec![0.0, 1.0, 256.0, 65535.0, 4.0, 5.0]));
    let colour: Vec<u32> = (0..18).collect();
    let planes: Vec<f64> = (0..3).flat_map(|c| (0..6).map(move |k| f64::from(3 * k + c))).collect();
    assert_eq!(read(&plain(&folder, "P3", 255, &colour)), (vec![3, 2, 3], planes));
    for planes in 1..=4 {
        let values: Vec<f64> = (0..6 * planes).map(|k| f64::from(10 * k as u8)).collect();
        let bytes = png(&picture(&[planes, 2, 3], &values), &budget()).unwrap();
        let shape = if planes == 1 { vec![2, 3] } else { vec![planes, 2, 3] };
        assert_eq!(read(&folder.file("a.png", &bytes)), (shape, values));
    }
    let rounded = png(&picture(&[1, 3], &[0.49, 0.5, 254.7]), &budget()).unwrap();
    assert_eq!(read(&folder.file("b.png", &rounded)).1, [0.0, 1.0, 255.0]);
}

#[test]
fn what_is_no_picture_is_said() {
    let folder = Folder::new("no-picture");
    let whole = png(&picture(&[20, 30], &[7.0; 600]), &budget()).unwrap();
    let says = |bytes: &[u8], bytes_free: u64| {
        let path = folder.file("a.png", bytes);
        let e = read_picture(&path, &Budget::new(bytes_free)).err().expect("an error");
        (e.kind(), e.to_string())
    };
    for short in [10, 30, whole.len() / 2, whole.len() - 13] {
        let (kind, text) = says(&whole[..short], 1 << 30);
        assert_eq!(kind, Kind::Domain, "{short}: {text}");
        assert!(text.contains("a.png") && text.contains("broken"), "{short}: {text}");
    }
    let (kind, text) = says(b"no picture at all", 1 << 30);
    assert!(kind == Kind::Domain && text.contains("PNG, JPEG, BMP and PGM"), "{text}");
    // A header that announces more than there is memory for.
    let (kind, text) = says(b"P5\n60000 60000\n255\n", 1 << 20);
    assert!(kind == Kind::WsFull || kind == Kind::Domain, "{text}");
    let refused = |shape: &[usize], values: &[f64]| {
        let e = png(&picture(shape, values), &budget()).unwrap_err();
        (e.kind(), e.to_string())
    };
    assert_eq!(refused(&[3], &[0.0; 3]).0, Kind::Rank);
    assert_eq!(refused(&[5, 1, 1], &[0.0; 5]).0, Kind::Length);
    assert_eq!(refused(&[0, 3], &[]).0, Kind::Domain);
    assert!(refused(&[1, 2], &[3.0, 256.0]).1.contains("256"));
    assert!(refused(&[1, 2], &[-1.0, 2.0]).1.contains("0 to 255"));
}
