//! Times of NumPy (`M8`, `m8`) as seconds: since 1970, or of a duration.

use aplomb_ground::calendar::days;
use npyz::TimeUnits;

const DAY: f64 = 86_400.0;

/// Seconds of a unit; None for months and years, which have no length.
pub fn seconds(unit: TimeUnits) -> Option<f64> {
    Some(match unit {
        TimeUnits::Week => 7.0 * DAY,
        TimeUnits::Day => DAY,
        TimeUnits::Hour => 3_600.0,
        TimeUnits::Minute => 60.0,
        TimeUnits::Second => 1.0,
        TimeUnits::Millisecond => 1e-3,
        TimeUnits::Microsecond => 1e-6,
        TimeUnits::Nanosecond => 1e-9,
        TimeUnits::Picosecond => 1e-12,
        TimeUnits::Femtosecond => 1e-15,
        TimeUnits::Attosecond => 1e-18,
        _ => return None,
    })
}

/// The seconds of so many units; a moment counts months and years by the calendar, a duration has
/// none of them. NaN for what is no time.
pub fn read(count: i64, unit: TimeUnits, moment: bool) -> Option<f64> {
    if count == i64::MIN {
        return Some(f64::NAN);
    }
    let months = match unit {
        TimeUnits::Year => Some(count.checked_mul(12)?),
        TimeUnits::Month => Some(count),
        _ => None,
    };
    match (months, seconds(unit)) {
        (Some(months), _) if moment => {
            let (year, month) = (1970 + months.div_euclid(12), months.rem_euclid(12));
            Some(days(year, month + 1, 1) as f64 * DAY)
        }
        // One division is rounded once: a tenth of a second is what is written `0.1`.
        (_, Some(length)) if length < 1.0 => Some(count as f64 / (1.0 / length).round()),
        (_, length) => length.map(|length| count as f64 * length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_and_months_are_by_the_calendar() {
        let moment = |n, unit| read(n, unit, true).expect("a moment");
        assert_eq!(moment(54, TimeUnits::Year), 1_704_067_200.0);
        assert_eq!(moment(649, TimeUnits::Month), 1_706_745_600.0);
        assert_eq!(moment(19_782, TimeUnits::Day), 19_782.0 * DAY);
        assert_eq!(moment(1_709_164_800_100, TimeUnits::Millisecond), 1_709_164_800.1);
        assert!(moment(i64::MIN, TimeUnits::Day).is_nan());
        assert_eq!(read(3, TimeUnits::Month, false), None);
        assert_eq!(read(-90, TimeUnits::Minute, false), Some(-5_400.0));
        assert!(read(i64::MAX, TimeUnits::Year, true).is_none());
        assert!(read(i64::MAX - 1, TimeUnits::Month, true).is_some());
    }
}
