//! The proleptic Gregorian calendar: days since 1970-01-01 and dates.

/// Days since 1970-01-01 of a date; those of years that no number of days reaches are the greatest
/// or the least there is.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year.saturating_sub(1) } else { year };
    let (era, of_era) = (y.div_euclid(400), y.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let eras = era.saturating_mul(146_097);
    eras.saturating_add(of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Year, month, day of a day since 1970-01-01.
pub fn date(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let (era, of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let m = (5 * of_year + 2) / 153;
    let month = if m < 10 { m + 3 } else { m - 9 };
    (year + era * 400 + i64::from(month <= 2), month, of_year - (153 * m + 2) / 5 + 1)
}

/// A test that the calendar has such a day.
pub fn is_date(year: i64, month: i64, day: i64) -> bool {
    (1..=12).contains(&month) && day >= 1 && date(days(year, month, day)) == (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_undo_each_other() {
        let all = (-2_500_000..2_500_000).step_by(37);
        for day in all.chain((-1_000_000..1_000_000).step_by(997)) {
            let (y, m, d) = date(day);
            assert_eq!(days(y, m, d), day);
        }
        assert_eq!((days(1970, 1, 1), days(2000, 3, 1), date(-719_162)), (0, 11_017, (1, 1, 1)));
        assert!(is_date(2024, 2, 29) && !is_date(2023, 2, 29) && !is_date(2023, 13, 1));
    }
}
