//! How many pages were referenced since a page's last reference.
//!
//! Every reference takes the next *slot* of a line of slots; a page owns the slot of its last reference and gives up
//! the one before. The distance of a page is the number of owned slots from its own on: its place in the LRU stack.
//! Slots are bits, counted by word, group, section and division. Each level is summed over a whole array of fixed
//! length with the earlier entries masked out: a few vector instructions and no branch that could be mispredicted.
//! With four slots a page, five million pages need 3 MB: the line stays in the processor's cache where a tree over
//! pages would not.
//!
//! When the line is full, owned slots move to its front in the same order ([`Recency::renumbering`]).

const WORDS: usize = 32;
const GROUPS: usize = 16;
const SECTIONS: usize = 16;
const WORD_SHIFT: u32 = 6;
const GROUP_SHIFT: u32 = WORD_SHIFT + WORDS.ilog2();
const SECTION_SHIFT: u32 = GROUP_SHIFT + GROUPS.ilog2();
const DIVISION_SHIFT: u32 = SECTION_SHIFT + SECTIONS.ilog2();

/// Slots for each owned one when the line is laid out anew.
const SLOTS_A_PAGE: usize = 4;
/// Slots of the smallest line.
const SMALLEST: usize = 1 << SECTION_SHIFT;

/// The line of slots.
pub struct Recency {
    words: Vec<u64>,
    by_word: Vec<[u8; WORDS]>,
    by_group: Vec<[u16; GROUPS]>,
    by_section: Vec<[u32; SECTIONS]>,
    by_division: Vec<u32>,
    next: usize,
    owned: usize,
    capacity: usize,
}

impl Default for Recency {
    fn default() -> Self {
        Self::new()
    }
}

/// `[index][at]` is all ones where `at > index`. Masks from memory, not comparisons: the compiler makes jumps of those.
macro_rules! masks {
    ($name:ident, $kind:ty, $length:expr, $at:ident, $index:ident, $chosen:expr) => {
        static $name: [[$kind; $length]; $length] = {
            let mut masks = [[0; $length]; $length];
            let mut $index = 0;
            while $index < $length {
                let mut $at = 0;
                while $at < $length {
                    masks[$index][$at] = if $chosen { <$kind>::MAX } else { 0 };
                    $at += 1;
                }
                $index += 1;
            }
            masks
        };
    };
}

masks!(WORDS_AFTER, u8, WORDS, at, index, at > index);
masks!(WORDS_BEFORE, u8, WORDS, at, index, at < index);
masks!(GROUPS_AFTER, u16, GROUPS, at, index, at > index);
masks!(SECTIONS_AFTER, u32, SECTIONS, at, index, at > index);

/// Sum of the counts that a mask lets through.
macro_rules! masked {
    ($counts:expr, $mask:expr) => {{
        let mut sum = 0u32;
        for (&count, &mask) in $counts.iter().zip(&$mask) {
            sum += u32::from(count & mask);
        }
        sum
    }};
}

impl Recency {
    /// An empty line.
    pub fn new() -> Self {
        Self::filled(0, SMALLEST)
    }

    /// A line whose first slots are owned.
    fn filled(owned: usize, capacity: usize) -> Self {
        let capacity = capacity.next_multiple_of(1 << GROUP_SHIFT);
        let arrays = |shift: u32| capacity.div_ceil(1 << shift);
        let share = |at: usize, shift: u32| owned.saturating_sub(at << shift).min(1 << shift);
        let low = |bits: usize| if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        Self {
            words: (0..capacity >> WORD_SHIFT).map(|at| low(share(at, WORD_SHIFT))).collect(),
            by_word: (0..arrays(GROUP_SHIFT))
                .map(|of| std::array::from_fn(|at| share(of * WORDS + at, WORD_SHIFT) as u8))
                .collect(),
            by_group: (0..arrays(SECTION_SHIFT))
                .map(|of| std::array::from_fn(|at| share(of * GROUPS + at, GROUP_SHIFT) as u16))
                .collect(),
            by_section: (0..arrays(DIVISION_SHIFT))
                .map(|of| std::array::from_fn(|at| share(of * SECTIONS + at, SECTION_SHIFT) as u32))
                .collect(),
            by_division: (0..arrays(DIVISION_SHIFT)).map(|at| share(at, DIVISION_SHIFT) as u32).collect(),
            next: owned,
            owned,
            capacity,
        }
    }

    /// Slots that can still be taken before [`Recency::renumbering`].
    #[inline(always)]
    pub fn room(&self) -> usize {
        self.capacity - self.next
    }

    /// The slot that the next reference takes.
    #[inline(always)]
    pub fn next(&self) -> u32 {
        self.next as u32
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * 8
            + self.by_word.capacity() * WORDS
            + self.by_group.capacity() * GROUPS * 2
            + self.by_section.capacity() * SECTIONS * 4
            + self.by_division.capacity() * 4
    }

    /// Loads what the distance of a slot will need; any number may be asked for.
    #[inline(always)]
    pub fn touch(&self, slot: u32) -> u64 {
        self.words.get(slot as usize >> WORD_SHIFT).copied().unwrap_or(0)
    }

    /// Number of owned slots from this one on, itself included.
    #[inline(always)]
    pub fn distance(&self, slot: u32) -> u32 {
        let slot = slot as usize;
        let (word, group, section, division) =
            (slot >> WORD_SHIFT, slot >> GROUP_SHIFT, slot >> SECTION_SHIFT, slot >> DIVISION_SHIFT);
        (self.words[word] >> (slot & 63)).count_ones()
            + masked!(self.by_word[group], WORDS_AFTER[word % WORDS])
            + masked!(self.by_group[section], GROUPS_AFTER[group % GROUPS])
            + masked!(self.by_section[division], SECTIONS_AFTER[section % SECTIONS])
            + self.by_division[division + 1..].iter().sum::<u32>()
    }

    /// Takes the next slots, as many as there are references in a batch: [`Recency::room`] of them at most.
    ///
    /// A distance asked for later counts all of them, those of the batch's later references too, which the caller
    /// subtracts. Taking them together keeps their counters out of the way of the distances.
    pub fn take(&mut self, count: usize) {
        let (mut slot, end) = (self.next, self.next + count);
        assert!(end <= self.capacity, "no slot is left");
        while slot < end {
            let word = slot >> WORD_SHIFT;
            let here = (end - slot).min(64 - (slot & 63));
            let bits = if here == 64 { u64::MAX } else { (1 << here) - 1 };
            self.words[word] |= bits << (slot & 63);
            self.by_word[slot >> GROUP_SHIFT][word % WORDS] += here as u8;
            self.by_group[slot >> SECTION_SHIFT][(slot >> GROUP_SHIFT) % GROUPS] += here as u16;
            self.by_section[slot >> DIVISION_SHIFT][(slot >> SECTION_SHIFT) % SECTIONS] += here as u32;
            self.by_division[slot >> DIVISION_SHIFT] += here as u32;
            slot += here;
        }
        self.next = end;
        self.owned += count;
    }

    /// Gives up an owned slot.
    #[inline(always)]
    pub fn give_up(&mut self, slot: u32) {
        let slot = slot as usize;
        let (word, group, section, division) =
            (slot >> WORD_SHIFT, slot >> GROUP_SHIFT, slot >> SECTION_SHIFT, slot >> DIVISION_SHIFT);
        self.words[word] &= !(1 << (slot & 63));
        self.by_word[group][word % WORDS] -= 1;
        self.by_group[section][group % GROUPS] -= 1;
        self.by_section[division][section % SECTIONS] -= 1;
        self.by_division[division] -= 1;
        self.owned -= 1;
    }

    /// Lays the line out anew, owned slots first, and returns where each one went.
    pub fn renumbering(&mut self) -> Renumbering {
        let mut before = Vec::with_capacity(self.by_word.len());
        let mut sum = 0;
        for at in 0..self.by_word.len() {
            before.push(sum);
            sum += u32::from(self.by_group[at / GROUPS][at % GROUPS]);
        }
        let renewed = Self::filled(self.owned, (self.owned * SLOTS_A_PAGE).max(SMALLEST));
        let old = std::mem::replace(self, renewed);
        Renumbering { words: old.words, by_word: old.by_word, before }
    }
}

/// Where owned slots went when the line was laid out anew.
pub struct Renumbering {
    words: Vec<u64>,
    by_word: Vec<[u8; WORDS]>,
    before: Vec<u32>,
}

impl Renumbering {
    /// New slot of a formerly owned one.
    #[inline(always)]
    pub fn of(&self, slot: u32) -> u32 {
        let slot = slot as usize;
        let (word, group) = (slot >> WORD_SHIFT, slot >> GROUP_SHIFT);
        let earlier = masked!(self.by_word[group], WORDS_BEFORE[word % WORDS]);
        self.before[group] + earlier + (self.words[word] & ((1 << (slot & 63)) - 1)).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Owned slots kept in a plain vector.
    #[derive(Default)]
    struct Plain {
        owned: Vec<u32>,
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn counts_as_a_vector_does(pages in 1usize..3000, skew in 1u32..4, seed: u64) {
            let (mut line, mut plain) = (Recency::new(), Plain::default());
            let mut slots = vec![None; pages];
            let mut state = seed | 1;
            for _ in 0..90_000 {
                if line.room() == 0 {
                    let moved = line.renumbering();
                    let expected: Vec<u32> = (0..plain.owned.len() as u32).collect();
                    prop_assert_eq!(plain.owned.iter().map(|&slot| moved.of(slot)).collect::<Vec<_>>(), expected.clone());
                    slots.iter_mut().flatten().for_each(|slot| *slot = moved.of(*slot));
                    plain.owned = expected;
                }
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let page = (((state >> 33) as f64 / (1u64 << 31) as f64).powi(skew as i32) * pages as f64) as usize;
                if let Some(slot) = slots[page] {
                    let at = plain.owned.binary_search(&slot).unwrap();
                    prop_assert_eq!(line.distance(slot) as usize, plain.owned.len() - at);
                    plain.owned.remove(at);
                    line.give_up(slot);
                }
                slots[page] = Some(line.next());
                plain.owned.push(line.next());
                line.take(1);
            }
        }
    }

    #[test]
    fn every_level_is_counted() {
        // 3,000,000 slots span several divisions; all owned, so the distance is the number of slots from there on.
        let line = Recency::filled(3_000_000, 3_200_000);
        for slot in [0u32, 1, 63, 64, 2047, 2048, 32_767, 32_768, 524_287, 524_288, 1_048_576, 2_999_999] {
            assert_eq!(line.distance(slot), 3_000_000 - slot, "slot {slot}");
        }
    }

    #[test]
    fn slots_taken_together_are_slots_taken_singly() {
        let (mut together, mut singly) = (Recency::new(), Recency::new());
        for count in [1, 63, 64, 65, 1, 200, 2048, 3000] {
            together.take(count);
            (0..count).for_each(|_| singly.take(1));
        }
        assert_eq!(together.words, singly.words);
        assert_eq!(together.by_word, singly.by_word);
        for slot in 0..together.next() {
            assert_eq!(together.distance(slot), singly.distance(slot), "slot {slot}");
        }
    }
}
