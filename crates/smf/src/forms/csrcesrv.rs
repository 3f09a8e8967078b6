//! Data that the z/OS service CSRCESRV compressed: runs of one byte are shortened.
//!
//! The manuals do not describe the form; a developer of z/OS did (IBM-MAIN list, June 2013), and bytes of CICS records
//! shown there agree: X'80' in front, then runs, each after a control byte. Below X'80' that is the number of bytes
//! which follow as they are; else its lower seven bits say how often the next byte stands. No run is empty.
//! Since none of it is a promise, who expands data has to know its length otherwise, and compare.

/// The first byte.
const MARK: u8 = 0x80;
/// Longest run.
const LONGEST: usize = 127;

/// Why data cannot be expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It does not begin as compressed data does.
    #[error("it does not begin with X'80'")]
    Unmarked,
    /// A control byte says that nothing follows.
    #[error("it has an empty run")]
    EmptyRun,
    /// It ends within a run.
    #[error("it ends within a run")]
    CutOff,
    /// It would become longer than allowed.
    #[error("it expands to more than a record can hold")]
    TooLong,
}

/// Appends the expanded data to `out`, which may not grow beyond `most` bytes.
///
/// # Errors
/// Data of another form. What was expanded until then stays appended.
pub fn expand(data: &[u8], most: usize, out: &mut Vec<u8>) -> Result<(), Malformed> {
    let Some((&MARK, mut rest)) = data.split_first() else { return Err(Malformed::Unmarked) };
    while let Some((&control, runs)) = rest.split_first() {
        let length = usize::from(control & 0x7F);
        if length == 0 {
            return Err(Malformed::EmptyRun);
        }
        if out.len() + length > most {
            return Err(Malformed::TooLong);
        }
        rest = if control < MARK {
            let (text, runs) = runs.split_at_checked(length).ok_or(Malformed::CutOff)?;
            out.extend_from_slice(text);
            runs
        } else {
            let (&byte, runs) = runs.split_first().ok_or(Malformed::CutOff)?;
            out.resize(out.len() + length, byte);
            runs
        };
    }
    Ok(())
}

/// Compresses data: bytes that stand three times or more in a row become a run.
#[must_use]
pub fn compress(data: &[u8]) -> Vec<u8> {
    let mut out = vec![MARK];
    let mut literal: &[u8] = &[];
    let mut at = 0;
    let flush = |literal: &[u8], out: &mut Vec<u8>| {
        for text in literal.chunks(LONGEST) {
            out.push(text.len() as u8);
            out.extend_from_slice(text);
        }
    };
    while at < data.len() {
        let run = data[at..].iter().take(LONGEST).take_while(|&&byte| byte == data[at]).count();
        if run >= 3 {
            flush(literal, &mut out);
            out.extend([MARK | run as u8, data[at]]);
            at += run;
            literal = &data[at..at];
        } else {
            let start = at - literal.len();
            at += 1;
            literal = &data[start..at];
        }
    }
    flush(literal, &mut out);
    out
}
