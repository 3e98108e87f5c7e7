//! Clock and calendar: ⎕TS ⎕AI ⎕DL ⎕DT. The host has the clock; `ground` the calendar.

use super::{Args, Row, constant, function, mapping, misused};
use crate::eval::cx::Cx;
use crate::eval::run::Eval;
use aplomb_ground::calendar::{date, days, is_date};
use aplomb_ground::error::{Result, domain, length, nonce};
use aplomb_values::array::Array;

pub static ROWS: &[Row] = &[
    constant(
        "TS",
        "Local time: year, month, day, hour, minute, second, millisecond.",
        ("≢⎕TS", "7"),
        |cx| {
            cx.effect("the time");
            let now = cx.host.now();
            cx.vector(Moment::of_ms(now.ms + now.offset_ms).stamp(1_000_000))
        },
    ),
    constant(
        "AI",
        "User number, milliseconds of computing, of the session, of waiting for keys.",
        ("≢⎕AI", "4"),
        |cx| {
            cx.effect("the time");
            let (computing, all) = cx.host.spent();
            cx.vector(vec![0.0, computing.round(), all.round(), 0.0])
        },
    ),
    function(
        "DL",
        "Waits Y seconds; the seconds that it took.",
        ("0≤⎕DL 0.001", "1"),
        |ev, a| {
            let wanted = ev.cx.numbers(a.y, "a time")?;
            let &[seconds] = wanted.as_slice() else {
                return Err(length("⎕DL takes one number"));
            };
            if !(0.0..=1e9).contains(&seconds) {
                return Err(domain("⎕DL waits 0 to 1E9 seconds"));
            }
            let took = ev.cx.world("the time")?.sleep(seconds)?;
            ev.shy(Array::num(took))
        },
    ),
    mapping(
        "DT",
        "Times Y from one form to another, X: ¯1 timestamps, 1 day numbers, 12 JavaScript, 20 \
         Unix, 40 Excel, 60 yyyymmdd.hhmmss …; 0 checks.",
        ("20 ¯1⎕DT 1E9", " 2001 9 9 1 46 40 0 "),
        convert,
    ),
];

const DAY: i128 = 86_400_000_000_000;

/// Nanoseconds since 1970-01-01 00:00 in the proleptic Gregorian calendar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Moment(i128);

impl Moment {
    fn of_ms(ms: i64) -> Moment {
        Moment(i128::from(ms) * 1_000_000)
    }

    pub(super) fn day(self) -> i64 {
        self.0.div_euclid(DAY) as i64
    }

    /// Hour, minute, second, nanosecond.
    pub(super) fn clock(self) -> [i64; 4] {
        let t = self.0.rem_euclid(DAY) as i64;
        let s = t / 1_000_000_000;
        [s / 3_600, s / 60 % 60, s % 60, t % 1_000_000_000]
    }

    /// Seven numbers, the last in units of so many nanoseconds.
    fn stamp(self, unit: i64) -> Vec<f64> {
        let ((year, month, day), [h, m, s, ns]) = (date(self.day()), self.clock());
        [year, month, day, h, m, s, ns / unit].map(|x| x as f64).to_vec()
    }
}

/// Milliseconds since 1970 as ⎕TS has them.
pub fn stamp(ms: i64) -> Vec<f64> {
    Moment::of_ms(ms).stamp(1_000_000)
}

/// The way in which numbers stand for times: nanoseconds of one, and the day of zero.
enum Number {
    /// Ticks of so many nanoseconds from a day at 00:00 (days since 1970).
    Ticks(i128, i64),
    /// Days and parts of days; the second is half days added to the start.
    Days(i64, i64),
    /// yyyymmdd.hhmmss and yyyymmddhhmmss.
    Digits(bool),
}

fn number(code: i64) -> Option<Number> {
    use Number::*;
    Some(match code {
        1 => Days(days(1899, 12, 31), 0),
        2 => Ticks(1_000_000_000 / 60, days(1970, 1, 1)),
        10 => Ticks(1, days(2000, 1, 1)),
        11 => Ticks(1_000_000, days(2024, 1, 1)),
        12 => Ticks(1_000_000, 0),
        13 => Days(0, 0),
        14 => Ticks(1_000_000, days(2001, 1, 1)),
        15 => Ticks(1_000, 0),
        16 => Ticks(1, 0),
        17 => Ticks(1_000, days(1900, 1, 1)),
        20 => Ticks(1_000_000_000, 0),
        21 => Ticks(4_000, days(1980, 1, 1)),
        22 => Ticks(1, days(1582, 10, 15)),
        31 => Ticks(100, days(1601, 1, 1)),
        32 => Ticks(100, days(1, 1, 1)),
        33 => Days(days(1899, 12, 30), 0),
        40 => Days(days(1899, 12, 31), 0),
        41 => Days(days(1904, 1, 1), 0),
        42 => Ticks(1_000_000, days(1960, 1, 1)),
        43 => Ticks(1_000_000_000, days(1582, 10, 14)),
        44 => Ticks(1_000_000_000, days(1960, 1, 1)),
        50 => Days(days(-4713, 11, 24), 1),
        51 => Days(days(1800, 1, 1), 0),
        52 => Days(days(1858, 11, 16), 1),
        53 => Days(days(1858, 11, 17), 0),
        54 => Days(days(1899, 12, 31), 1),
        55 => Days(days(1950, 1, 1), 0),
        56 => Days(days(1958, 1, 1), 0),
        60 => Digits(false),
        61 => Digits(true),
        70 => Ticks(1_000_000, days(1978, 1, 1)),
        _ => return None,
    })
}

/// Excel counts a 29 February 1900 that never was.
const EXCEL_GAP: i64 = 60;

/// The microseconds to which a day number is read: a power of ten above the step of its 53 bits, so
/// that what was written is what is read. One as far as day 65536, 2079 from 1900 on.
fn step_of_day(x: f64) -> f64 {
    let bits = (x.abs().next_up() - x.abs()) * 86_400e6;
    let mut step = 1.0;
    while step <= bits {
        step *= 10.0;
    }
    step
}

pub(super) fn of_number(code: i64, x: f64) -> Option<Moment> {
    if !x.is_finite() || x.abs() > 1e20 {
        return None;
    }
    let at = |day: i64| i128::from(day) * DAY;
    Some(match number(code)? {
        Number::Ticks(_, day) if code == 2 => Moment(at(day) + (x / 60.0 * 1e9).round() as i128),
        Number::Ticks(unit, day) => {
            let whole = x.trunc();
            Moment(at(day) + whole as i128 * unit + ((x - whole) * unit as f64).round() as i128)
        }
        Number::Days(day, half) => {
            let x = if code == 40 && x >= (EXCEL_GAP + 1) as f64 { x - 1.0 } else { x };
            let whole = x.floor();
            if whole.abs() > 1e9 {
                return None;
            }
            let step = step_of_day(x);
            let part = ((x - whole) * 86_400e6 / step).round() as i128 * (step * 1e3) as i128;
            Moment(at(day) + i128::from(half) * DAY / 2 + whole as i128 * DAY + part)
        }
        Number::Digits(joined) => {
            let (date, clock) = match joined {
                true => ((x / 1e6).floor(), x % 1e6),
                false => (x.floor(), ((x - x.floor()) * 1e6).round()),
            };
            let (date, clock) = (date as i64, clock as i64);
            let stamp = [
                date / 10_000,
                date / 100 % 100,
                date % 100,
                clock / 10_000,
                clock / 100 % 100,
                clock % 100,
                0,
            ];
            of_parts(&stamp, 1)?
        }
    })
}

fn to_number(code: i64, t: Moment) -> Option<f64> {
    let at = |day: i64| i128::from(day) * DAY;
    Some(match number(code)? {
        Number::Ticks(_, day) if code == 2 => ((t.0 - at(day)) as f64 * 60.0 / 1e9).floor(),
        Number::Ticks(unit, day) => (t.0 - at(day)).div_euclid(unit) as f64,
        Number::Days(day, half) => {
            let since = t.0 - at(day) - i128::from(half) * DAY / 2;
            let x = since.div_euclid(DAY) as f64 + since.rem_euclid(DAY) as f64 / DAY as f64;
            if code == 40 && x >= EXCEL_GAP as f64 { x + 1.0 } else { x }
        }
        Number::Digits(joined) => {
            let ((y, m, d), [h, mm, s, _]) = (date(t.day()), t.clock());
            let (date, clock) =
                ((y * 10_000 + m * 100 + d) as f64, (h * 10_000 + mm * 100 + s) as f64);
            if joined { date * 1e6 + clock } else { date + clock / 1e6 }
        }
    })
}

/// Year, month, day, hour, minute, second, part of a second in such units.
fn of_parts(p: &[i64; 7], unit: i64) -> Option<Moment> {
    let whole = is_date(p[0], p[1], p[2])
        && (-4_713..=400_000).contains(&p[0])
        && (0..24).contains(&p[3])
        && (0..60).contains(&p[4])
        && (0..60).contains(&p[5])
        && (0..1_000_000_000 / unit).contains(&p[6]);
    whole.then(|| {
        let seconds = p[3] * 3_600 + p[4] * 60 + p[5];
        let ns = i128::from(seconds) * 1_000_000_000 + i128::from(p[6]) * i128::from(unit);
        Moment(i128::from(days(p[0], p[1], p[2])) * DAY + ns)
    })
}

/// The unit of the last part of a timestamp.
fn unit(code: i64) -> Option<i64> {
    match code {
        -1 => Some(1_000_000),
        -2 => Some(1_000),
        -3 => Some(1),
        _ => None,
    }
}

fn of_stamp(code: i64, items: &[f64]) -> Option<Moment> {
    let whole: Option<Vec<i64>> =
        items.iter().map(|x| aplomb_values::prim::scalar::near_integer(*x, 1e-14)).collect();
    let mut parts = [1, 1, 1, 0, 0, 0, 0];
    let given = whole.filter(|v| v.len() <= 7)?;
    match code {
        -10 => {
            let mut p = [1, 1, 0, 0, 0, 0];
            p.get_mut(..given.len())?.copy_from_slice(&given);
            let day = of_parts(&[p[0], 1, 1, p[2], p[3], p[4], p[5]], 1_000)?;
            let t = Moment(day.0 + i128::from(p[1] - 1) * DAY);
            (p[1] >= 1 && date(t.day()).0 == p[0]).then_some(t)
        }
        _ => {
            parts.get_mut(..given.len())?.copy_from_slice(&given);
            of_parts(&parts, unit(code)?)
        }
    }
}

fn known(code: i64) -> Result<()> {
    match code {
        _ if number(code).is_some() || unit(code).is_some() || code == -10 => Ok(()),
        30 | -11 | -20 | -30 => Err(nonce(format!("⎕DT with the form {code}"))),
        _ => Err(domain(format!("⎕DT has no form {code}"))),
    }
}

fn convert(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let x = a.left("the form wanted")?;
    if x.is_char() || !x.is_simple() {
        return Err(nonce("⎕DT with a pattern"));
    }
    let forms = ev.cx.integers(x, "a form of ⎕DT")?;
    let (from, to) = match *forms.as_slice() {
        [to] => (None, to),
        [from, to] => (Some(from), to),
        _ => return Err(misused("DT", "one form or two on its left")),
    };
    from.map_or(Ok(()), known)?;
    if to != 0 {
        known(to)?;
    }
    let _items = ev.cx.budget().charge_elements(a.y.len(), size_of::<Array>())?;
    let (mut out, mut ticks) = (ev.cx.budget().room(a.y.len())?, ev.cx.budget().ticks());
    for item in a.y.in_turn() {
        ticks.tick()?;
        let t = moment(&mut ev.cx, &item, from)?;
        out.push(match (to, t) {
            (0, t) => Array::bool(t.is_some()),
            (_, None) => return Err(domain("this is no such time").hint("0⎕DT Y says which are")),
            (to, Some(t)) => given(&mut ev.cx, to, t)?,
        });
    }
    if a.y.rank() == 0 {
        return out.swap_remove(0).enclosed().map(Some);
    }
    ev.cx.collect(a.y.shape(), out, None).map(Some)
}

/// One item as a time; None where it is none.
fn moment(cx: &mut Cx<'_>, item: &Array, from: Option<i64>) -> Result<Option<Moment>> {
    let item = item.disclosed();
    if let Some(&[zone]) = item.to_chars(cx.budget())?.filter(|_| item.rank() == 0).as_deref() {
        cx.effect("the time");
        let now = cx.host.now();
        let hours = match zone.to_ascii_uppercase() {
            'J' => return Ok(Some(Moment::of_ms(now.ms + now.offset_ms))),
            'Z' => 0,
            c @ 'A'..='I' => c as i64 - 'A' as i64 + 1,
            c @ 'K'..='M' => c as i64 - 'K' as i64 + 10,
            c @ 'N'..='Y' => 'N' as i64 - c as i64 - 1,
            _ => return Err(domain("a time zone is a letter")),
        };
        return Ok(Some(Moment::of_ms(now.ms + hours * 3_600_000)));
    }
    let Some(numbers) = item.to_numbers(cx.budget())? else {
        return Err(domain("⎕DT takes numbers and timestamps"));
    };
    Ok(match item.rank() {
        0 => of_number(from.filter(|c| *c > 0).unwrap_or(1), numbers[0]),
        _ => of_stamp(from.filter(|c| *c < 0).unwrap_or(-1), &numbers),
    })
}

fn given(cx: &mut Cx<'_>, to: i64, t: Moment) -> Result<Array> {
    let beyond = || domain("this time is beyond the form's range");
    if let Some(unit) = unit(to) {
        return cx.vector(t.stamp(unit));
    }
    if to == -10 {
        let ((year, _, _), [h, m, s, ns]) = (date(t.day()), t.clock());
        let of_year = t.day() - days(year, 1, 1) + 1;
        return cx.vector([year, of_year, h, m, s, ns / 1_000].map(|x| x as f64).to_vec());
    }
    to_number(to, t).map(Array::num).ok_or_else(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_numbers_undoes_itself() {
        let t = of_parts(&[2019, 2, 13, 10, 16, 56, 0], 1).unwrap();
        for code in 0..=70 {
            let Some(x) = to_number(code, t) else { continue };
            let back = of_number(code, x).unwrap();
            assert!((back.0 - t.0).abs() < 1_000_000_000, "{code}: {x} gives {back:?}, not {t:?}");
        }
    }
}
