//! The data forms against known values, against slow obvious twins, and there and back.

mod records;

use plexlens_smf::forms::ebcdic::{self, CodePage, TextUnfit};
use plexlens_smf::forms::packed_decimal::{self, Packed};
use plexlens_smf::forms::smf_date::{self, SmfDate};
use plexlens_smf::forms::tod_clock::LeapSeconds;
use plexlens_smf::forms::{Unfit, hexfloat, rmf_time};
use proptest::prelude::*;

/// Long hexadecimal floats of the z/Architecture Principles of Operation and of common descriptions of the form,
/// with the value they stand for.
const HEX_FLOATS: [(u64, f64); 13] = [
    (0x4110_0000_0000_0000, 1.0),
    (0xC276_A000_0000_0000, -118.625),
    (0x4080_0000_0000_0000, 0.5),
    (0x3F40_0000_0000_0000, 1.0 / 64.0),
    (0xC1F0_0000_0000_0000, -15.0),
    (0x42FF_0000_0000_0000, 255.0),
    (0x4310_0000_0000_0000, 256.0),
    (0x0000_0000_0000_0000, 0.0),
    (0x4019_9999_9999_999A, 0.1),
    (0x4110_0000_0000_0001, 1.000_000_000_000_000_2),
    // 16 - 2^-52 has 56 significant bits: the nearest double is 16.
    (0x41FF_FFFF_FFFF_FFFF, 16.0),
    // Unnormalised: 00.1 hexadecimal times 16^2.
    (0x4200_1000_0000_0000, 1.0 / 16.0),
    (0x7FFF_FFFF_FFFF_FFFF, 7.237_005_577_332_262e75),
];

#[test]
fn hexadecimal_floats_of_the_books() {
    for (bits, value) in HEX_FLOATS {
        assert_eq!(hexfloat::decode_long(bits.to_be_bytes()), value, "{bits:016X}");
    }
    assert_eq!(hexfloat::decode_short(0x4110_0000_u32.to_be_bytes()), 1.0);
    assert_eq!(hexfloat::decode_short(0xC276_A000_u32.to_be_bytes()), -118.625);
    // The smallest normalised number, 16^-65, as two books give it.
    let smallest = hexfloat::decode_long(0x0010_0000_0000_0000_u64.to_be_bytes());
    assert_eq!(smallest, 5.397_605_346_934_028e-79);
    assert_eq!(hexfloat::encode_long(1.0), Ok(0x4110_0000_0000_0000_u64.to_be_bytes()));
    assert_eq!(hexfloat::encode_long(-118.625), Ok(0xC276_A000_0000_0000_u64.to_be_bytes()));
    assert_eq!(hexfloat::encode_short(-118.625), Ok(0xC276_A000_u32.to_be_bytes()));
    // 0.1 in binary is 0.1000000000000000055511151231257827; its hexadecimal digits, cut after 53 bits of it.
    assert_eq!(hexfloat::encode_long(0.1), Ok(0x4019_9999_9999_999A_u64.to_be_bytes()));
    assert_eq!(hexfloat::encode_long(-0.0), Ok((1_u64 << 63).to_be_bytes()));
}

#[test]
fn hexadecimal_floats_at_their_limits() {
    assert_eq!(hexfloat::encode_long(f64::NAN), Err(Unfit::NotFinite));
    assert_eq!(hexfloat::encode_long(f64::INFINITY), Err(Unfit::NotFinite));
    // The largest long number reads as 16^63, so that is written as the largest.
    assert_eq!(hexfloat::encode_long(16f64.powi(63)), Ok(0x7FFF_FFFF_FFFF_FFFF_u64.to_be_bytes()));
    assert_eq!(hexfloat::encode_long(-(16f64.powi(63))), Ok(u64::MAX.to_be_bytes()));
    let beyond = 16f64.powi(63) * (1.0 + f64::EPSILON);
    assert_eq!(hexfloat::encode_long(beyond), Err(Unfit::TooLarge));
    assert_eq!(hexfloat::encode_long(-beyond), Err(Unfit::TooSmall));
    let largest = 16f64.powi(63) * (1.0 - f64::EPSILON / 2.0);
    assert_eq!(hexfloat::encode_long(largest).map(hexfloat::decode_long), Ok(largest));
    // As a short float it would round to 16^63.
    assert_eq!(hexfloat::encode_short(largest), Err(Unfit::TooLarge));
    // 16^-65 is the last normalised one; below, digits are lost, then everything.
    assert_eq!(hexfloat::encode_long(16f64.powi(-65)), Ok(0x0010_0000_0000_0000_u64.to_be_bytes()));
    assert_eq!(hexfloat::encode_long(16f64.powi(-66)), Ok(0x0001_0000_0000_0000_u64.to_be_bytes()));
    assert_eq!(hexfloat::encode_long(16f64.powi(-78)), Ok(1_u64.to_be_bytes()));
    assert_eq!(hexfloat::encode_long(16f64.powi(-78) / 2.0), Ok([0; 8]), "a tie goes to the even zero");
    assert_eq!(hexfloat::encode_long(16f64.powi(-78) * 0.75), Ok(1_u64.to_be_bytes()));
    assert_eq!(hexfloat::encode_long(f64::MIN_POSITIVE / 2.0), Ok([0; 8]));
}

/// The definition, digit by digit: each hexadecimal digit of the fraction is worth 16 times less than the one
/// before. Both halves of the fraction are exact; adding them rounds once, as it must.
fn slow_hexfloat(bits: u64) -> f64 {
    let digit = |place: u32| (bits >> (52 - 4 * place)) & 0xF;
    let sum = |places: std::ops::Range<u32>| {
        places.map(|place| digit(place) as f64 * 16f64.powi(-1 - place as i32)).sum::<f64>()
    };
    let value = sum(0..7) + sum(7..14);
    let exponent = (bits >> 56 & 0x7F) as i32 - 64;
    let power = 16f64.powi(exponent / 2) * 16f64.powi(exponent - exponent / 2);
    if bits >> 63 == 1 { -(value * power) } else { value * power }
}

fn nibbles(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Packed decimal by its printed half bytes.
fn slow_packed(bytes: &[u8]) -> Packed {
    let text = nibbles(bytes);
    let (digits, sign) = text.split_at(text.len() - 1);
    if text.bytes().all(|half| half == b'0') {
        return Packed::Empty;
    }
    match (digits.parse::<i64>(), sign) {
        (Ok(number), "A" | "C" | "E" | "F") => Packed::Number(number),
        (Ok(number), "B" | "D") => Packed::Number(-number),
        _ => Packed::Unreadable,
    }
}

/// A date by counting days from 1900-01-01, which was 25,567 days before 1970-01-01.
fn slow_date(bytes: [u8; 4]) -> SmfDate {
    let text = nibbles(&bytes);
    if text == "00000000" {
        return SmfDate::Empty;
    }
    let leap = |year: i32| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let number = |range: std::ops::Range<usize>| text[range].parse::<i32>().ok();
    let (Some(0), Some(century), Some(year), Some(day)) = (number(0..1), number(1..2), number(2..4), number(4..7))
    else {
        return SmfDate::Unreadable;
    };
    let year = 1900 + 100 * century + year;
    if !"ACEF".contains(&text[7..]) || day < 1 || day > if leap(year) { 366 } else { 365 } {
        return SmfDate::Unreadable;
    }
    SmfDate::Days((1900..year).map(|year| if leap(year) { 366 } else { 365 }).sum::<i32>() - 25_567 + day - 1)
}

#[test]
fn dates_of_the_sample_dumps_and_of_leap_years() {
    // 0116058F stands in the MQ sample dump written on 2016-02-27; that day is 16,858 days after 1970-01-01.
    assert_eq!(smf_date::decode([0x01, 0x16, 0x05, 0x8F]), SmfDate::Days(16_858));
    assert_eq!(smf_date::decode([0x00, 0x70, 0x00, 0x1F]), SmfDate::Days(0));
    assert_eq!(smf_date::decode([0x01, 0x00, 0x36, 0x6F]), SmfDate::Days(11_322), "2000 was a leap year");
    assert_eq!(smf_date::decode([0x02, 0x00, 0x36, 0x6F]), SmfDate::Unreadable, "2100 is none");
    assert_eq!(smf_date::decode([0x01, 0x16, 0x00, 0x0F]), SmfDate::Unreadable);
    assert_eq!(smf_date::decode([0; 4]), SmfDate::Empty);
    assert_eq!(smf_date::encode(-25_567), Ok([0x00, 0x00, 0x00, 0x1F]));
    assert_eq!(smf_date::encode(-25_568), Err(Unfit::TooSmall));
    assert_eq!(smf_date::encode(400_000), Err(Unfit::TooLarge));
}

/// Every day of the calendar by counting days one after the other, from the first of January 1900.
#[test]
fn calendar_days_and_numbers() {
    let (mut number, mut read) = (-25_567_i64, 0);
    for year in 1900..2900 {
        for month in 1..=12 {
            let length = match month {
                4 | 6 | 9 | 11 => 30,
                2 if year % 400 == 0 || (year % 4 == 0 && year % 100 != 0) => 29,
                2 => 28,
                _ => 31,
            };
            for day in 1..=length {
                assert_eq!(smf_date::days_of(year, month, day), Some(number), "{year}-{month}-{day}");
                assert_eq!(smf_date::date_of(number), Some((year, month, day)), "{number}");
                number += 1;
                read += 1;
            }
            assert_eq!(smf_date::days_of(year, month, length + 1), None, "{year}-{month}");
        }
    }
    assert_eq!(read, 365_243, "1000 years, 243 of them leap years: 250 less 7 centuries");
    for (year, month, day) in [(1899, 12, 31), (2900, 1, 1), (2016, 0, 1), (2016, 13, 1), (2016, 1, 0)] {
        assert_eq!(smf_date::days_of(year, month, day), None, "{year}-{month}-{day}");
    }
    for number in [-25_568, 339_676, i64::MAX, i64::MIN] {
        assert_eq!(smf_date::date_of(number), None, "{number}");
    }
}

#[test]
fn packed_decimals() {
    assert_eq!(packed_decimal::decode(&[0x12, 0x3C]), Packed::Number(123));
    assert_eq!(packed_decimal::decode(&[0x12, 0x3D]), Packed::Number(-123));
    assert_eq!(packed_decimal::decode(&[0x12, 0x3F]), Packed::Number(123));
    assert_eq!(packed_decimal::decode(&[0x12, 0x34]), Packed::Unreadable);
    assert_eq!(packed_decimal::decode(&[0x1A, 0x3C]), Packed::Unreadable);
    assert_eq!(packed_decimal::decode(&[0, 0]), Packed::Empty);
    assert_eq!(packed_decimal::decode(&[0, 0x0C]), Packed::Number(0));
    let mut field = [0xFF; 2];
    assert_eq!(packed_decimal::encode(-123, 0xC, &mut field), Ok(()));
    assert_eq!(field, [0x12, 0x3D]);
    assert_eq!(packed_decimal::encode(1000, 0xC, &mut field), Err(Unfit::TooLarge));
    assert_eq!(packed_decimal::encode(-1000, 0xC, &mut field), Err(Unfit::TooSmall));
}

#[test]
fn packed_times() {
    assert_eq!(rmf_time::hms_to_seconds(93_015), Some(9.0 * 3600.0 + 30.0 * 60.0 + 15.0));
    assert_eq!(rmf_time::hms_to_seconds(96_015), None);
    assert_eq!(rmf_time::hms_to_seconds(-1), None);
    assert_eq!(rmf_time::mst_to_milliseconds(1_459_998), Some(14 * 60_000 + 59_998));
    assert_eq!(rmf_time::mst_to_milliseconds(1_460_000), None);
    for second in 0..86_400 {
        assert_eq!(rmf_time::hms_to_seconds(rmf_time::seconds_to_hms(second)), Some(second as f64));
    }
}

/// Microseconds since 1970 of a UTC date and time.
fn utc(days: i64, seconds: i64) -> i64 {
    (days * 86_400 + seconds) * 1_000_000
}

#[test]
fn clock_values_of_the_books() {
    // z/Architecture Principles of Operation, table of clock settings at the start of years: 1970 and 1972.
    assert_eq!(LeapSeconds::Absent.to_utc(0x7D91_048B_CA00_0000), Some(0));
    assert_eq!(LeapSeconds::Absent.to_utc(0x8126_D60E_4600_0000), Some(utc(730, 0)));
    assert_eq!(LeapSeconds::Absent.to_utc(0), None);
    assert_eq!(LeapSeconds::Absent.from_utc(0), Ok(0x7D91_048B_CA00_0000));
    assert_eq!(LeapSeconds::Absent.from_utc(utc(-25_567, 0)), Err(Unfit::TooSmall), "zero means unset");
    assert_eq!(LeapSeconds::Absent.from_utc(i64::MAX), Err(Unfit::TooLarge));
    assert!(LeapSeconds::Absent.to_utc(u64::MAX) > Some(0));
}

#[test]
fn clocks_that_count_leap_seconds() {
    let included = LeapSeconds::Included;
    // The table continues with its leap seconds: 1973-01-01 has the second of them, 1974-01-01 the third, ...
    // 1980-01-01 the ninth: 95B6_2F30_..., 1990-01-01 the fifteenth.
    for (days, leaps) in [(730, 0), (912, 1), (1096, 2), (1461, 3), (3652, 9), (7305, 15), (17_167, 27), (20_000, 27)] {
        let midnight = utc(days, 0);
        let ahead = LeapSeconds::Absent.from_utc(midnight + leaps * 1_000_000).expect("in range");
        assert_eq!(included.from_utc(midnight), Ok(ahead), "day {days}");
        assert_eq!(included.to_utc(ahead), Some(midnight), "day {days}");
        // The second before has one fewer where a leap second was inserted just then.
        let before = included.from_utc(midnight - 1).expect("in range");
        assert_eq!(included.to_utc(before), Some(midnight - 1), "day {days}");
    }
    // Within the leap second at the end of 2016 the clock gives the first second of 2017, which then comes again.
    let leap = LeapSeconds::Absent.from_utc(utc(17_167, 26) + 500_000).expect("in range");
    assert_eq!(included.to_utc(leap), Some(utc(17_167, 0) + 500_000));
}

#[test]
fn code_pages_differ_in_six_places() {
    let text = |page: CodePage, code: u8| page.decode(&[code, 0xC1]).chars().next().expect("a character");
    let differing: Vec<(u8, char, char)> = (0..=255)
        .map(|code| (code, text(CodePage::Cp037, code), text(CodePage::Cp1047, code)))
        .filter(|(_, one, other)| one != other)
        .collect();
    let expected =
        [(0x5F, '¬', '^'), (0xAD, 'Ý', '['), (0xB0, '^', '¬'), (0xBA, '[', 'Ý'), (0xBB, ']', '¨'), (0xBD, '¨', ']')];
    assert_eq!(differing, expected);
}

#[test]
fn code_pages_hold_the_invariant_characters() {
    // Letters and digits by their zone and digit half bytes, as every EBCDIC table prints them.
    for page in [CodePage::Cp037, CodePage::Cp1047] {
        let run = |first: u8, count: u8| page.decode(&(first..first + count).collect::<Vec<_>>());
        assert_eq!(run(0xC1, 9), "ABCDEFGHI");
        assert_eq!(run(0xD1, 9), "JKLMNOPQR");
        assert_eq!(run(0xE2, 8), "STUVWXYZ");
        assert_eq!(run(0x81, 9), "abcdefghi");
        assert_eq!(run(0x91, 9), "jklmnopqr");
        assert_eq!(run(0xA2, 8), "stuvwxyz");
        assert_eq!(run(0xF0, 10), "0123456789");
        assert_eq!(page.decode(&[0x4B, 0x4C, 0x4D, 0x4E, 0x50, 0x5B, 0x5C, 0x5D]), ".<(+&$*)");
        assert_eq!(page.decode(&[0x60, 0x61, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F]), "-/,%_>?");
        assert_eq!(page.decode(&[0x7A, 0x7B, 0x7C, 0x7D, 0x7E, 0x7F, 0x15, 0x25, 0xC1]), ":#@'=\"\u{85}\nA");
    }
}

#[test]
fn text_is_padded_and_cut() {
    let page = CodePage::Cp1047;
    assert_eq!(page.decode(&[0xC1, 0x40, 0xC2, 0x40, 0x00, 0x40]), "A B");
    assert_eq!(page.decode(&[0x40, 0xC1]), " A");
    assert_eq!(page.decode(&[0, 0, 0]), "");
    assert_eq!(ebcdic::trim(&[]), &[] as &[u8]);
    let mut field = [0; 4];
    assert_eq!(page.encode("A[", &mut field), Ok(()));
    assert_eq!(field, [0xC1, 0xAD, 0x40, 0x40]);
    assert_eq!(page.encode("ABCDE", &mut field), Err(TextUnfit::Length(5)));
    assert_eq!(page.encode("A€", &mut field), Err(TextUnfit::Character('€')));
    for name in ["037", "37", "cp037", "IBM-037", "1047", "CP1047", "ibm1047"] {
        assert!(CodePage::parse(name).is_some(), "{name}");
    }
    assert_eq!(CodePage::parse("500"), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn long_hexadecimal_floats_equal_their_definition(bits: u64) {
        prop_assert_eq!(hexfloat::decode_long(bits.to_be_bytes()), slow_hexfloat(bits));
    }

    #[test]
    fn short_hexadecimal_floats_equal_their_definition(bits: u32) {
        prop_assert_eq!(hexfloat::decode_short(bits.to_be_bytes()), slow_hexfloat(u64::from(bits) << 32));
    }

    /// Every double between 16^-65 and 16^63 is a long hexadecimal float, exactly.
    #[test]
    fn doubles_survive_long_hexadecimal(mantissa: u64, exponent in -259_i32..251, negative: bool) {
        let fraction = 1.0 + (mantissa >> 12) as f64 / 2f64.powi(52);
        let value = fraction * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
        let value = if negative { -value } else { value };
        let bytes = hexfloat::encode_long(value).expect("in range");
        prop_assert_eq!(hexfloat::decode_long(bytes), value);
        prop_assert!(bytes[1] >> 4 != 0, "normalised");
    }

    /// A short float is one of the two nearest 24-bit fractions, and the nearer one.
    #[test]
    fn short_hexadecimal_is_the_nearest(mantissa: u64, exponent in -200_i32..200) {
        let value = (1.0 + (mantissa >> 12) as f64 / 2f64.powi(52)) * 2f64.powi(exponent);
        let bits = u32::from_be_bytes(hexfloat::encode_short(value).expect("in range"));
        let at = |bits: u32| hexfloat::decode_short(bits.to_be_bytes());
        let error = (at(bits) - value).abs();
        // Neighbours in the same exponent; where the fraction overflows, the next exponent's first fraction.
        for neighbour in [bits - 1, bits + 1] {
            if neighbour >> 24 == bits >> 24 {
                prop_assert!(error <= (at(neighbour) - value).abs());
            }
        }
        prop_assert!(error <= value * 2f64.powi(-21));
    }

    #[test]
    fn packed_decimals_equal_their_print(bytes in prop::collection::vec(any::<u8>(), 1..=9)) {
        prop_assert_eq!(packed_decimal::decode(&bytes), slow_packed(&bytes));
    }

    #[test]
    fn packed_digits_equal_their_print(digits in "[0-9]{1,17}", sign in "[A-F]") {
        let text = format!("{digits}{sign}");
        let text = if text.len() % 2 == 1 { format!("0{text}") } else { text };
        let bytes: Vec<u8> =
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect();
        prop_assert_eq!(packed_decimal::decode(&bytes), slow_packed(&bytes));
    }

    #[test]
    fn packed_numbers_survive(length in 1_usize..=9, number: i64) {
        let most = 10_i64.pow(2 * length as u32 - 1) - 1;
        let number = number % (most + 1);
        let mut field = vec![0; length];
        prop_assert_eq!(packed_decimal::encode(number, 0xC, &mut field), Ok(()));
        prop_assert_eq!(packed_decimal::decode(&field), Packed::Number(number));
        prop_assert_eq!(packed_decimal::encode(most + 1, 0xC, &mut field), Err(Unfit::TooLarge));
    }

    #[test]
    fn dates_equal_counting(century in 0_u32..10, year in 0_u32..100, day in 0_u32..400, sign in 0_u32..16) {
        let text = format!("0{century}{year:02}{day:03}{sign:X}");
        let bytes = u32::from_str_radix(&text, 16).expect("hex").to_be_bytes();
        prop_assert_eq!(smf_date::decode(bytes), slow_date(bytes));
    }

    #[test]
    fn dates_survive(days in -25_567_i32..339_664) {
        let bytes = smf_date::encode(days).expect("in range");
        prop_assert_eq!(smf_date::decode(bytes), SmfDate::Days(days));
        prop_assert_eq!(slow_date(bytes), SmfDate::Days(days));
    }

    #[test]
    fn any_date_bytes_are_read_alike(bytes: [u8; 4]) {
        prop_assert_eq!(smf_date::decode(bytes), slow_date(bytes));
    }

    #[test]
    fn clock_values_survive(clock in 0x1000_u64.., included: bool) {
        let leap = if included { LeapSeconds::Included } else { LeapSeconds::Absent };
        let micros = leap.to_utc(clock).expect("not zero");
        let back = leap.from_utc(micros).expect("in range");
        prop_assert_eq!(leap.to_utc(back), Some(micros));
        if !included {
            prop_assert_eq!(back, clock & !0xFFF);
            // By the definition: bit 51 is a microsecond, 1900 to 1970 are 25,567 days.
            let since_1900 = i128::from(clock / 4096);
            prop_assert_eq!(i128::from(micros), since_1900 - 25_567 * 86_400 * 1_000_000);
        }
    }

    #[test]
    fn text_survives(codes in prop::collection::vec(any::<u8>(), 0..40), first: bool) {
        let page = if first { CodePage::Cp037 } else { CodePage::Cp1047 };
        let text = page.decode(&codes);
        prop_assert_eq!(text.chars().count(), ebcdic::trim(&codes).len());
        let mut field = vec![0; codes.len()];
        prop_assert_eq!(page.encode(&text, &mut field), Ok(()));
        prop_assert_eq!(&field[..ebcdic::trim(&codes).len()], ebcdic::trim(&codes));
        let mut bytes = Vec::new();
        page.decode_into(ebcdic::trim(&codes), &mut bytes);
        prop_assert_eq!(String::from_utf8(bytes), Ok(text));
    }
}
