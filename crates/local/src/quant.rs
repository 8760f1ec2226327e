//! The element types of GGUF tensors, each as codes with a scale and a floor.
//!
//! Thirty-two weights in a row become codes `c` such that the weight is `scale * c + floor`: four
//! bits where the file has four, eight otherwise. Types of up to five bits and `Q8_0` are kept
//! exactly; six bits and floating point are rounded to eight bits, which adds less than they lost.

/// How many weights share a scale.
pub(crate) const SPAN: usize = 32;

/// Thirty-two weights as codes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantized {
    pub(crate) codes: [u8; SPAN],
    pub(crate) scale: f32,
    pub(crate) floor: f32,
}

impl Quantized {
    /// Claims that the weights are numbers.
    pub(crate) fn is_finite(&self) -> bool {
        self.scale.is_finite() && self.floor.is_finite()
    }
}

/// An element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    F32,
    F16,
    Bf16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q4K,
    Q5K,
    Q6K,
}

impl Kind {
    /// Returns the type with this number, if it is a supported one.
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::F32,
            1 => Self::F16,
            2 => Self::Q4_0,
            3 => Self::Q4_1,
            6 => Self::Q5_0,
            7 => Self::Q5_1,
            8 => Self::Q8_0,
            12 => Self::Q4K,
            13 => Self::Q5K,
            14 => Self::Q6K,
            30 => Self::Bf16,
            _ => return None,
        })
    }

    /// Returns how many weights and how many bytes a block of this type has.
    pub(crate) fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (32, 128),
            Self::F16 | Self::Bf16 => (32, 64),
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q5_0 => (32, 22),
            Self::Q5_1 => (32, 24),
            Self::Q8_0 => (32, 34),
            Self::Q4K => (256, 144),
            Self::Q5K => (256, 176),
            Self::Q6K => (256, 210),
        }
    }

    /// Returns how many bytes so many weights of this type take in a file.
    pub(crate) fn bytes(self, weights: u64) -> u64 {
        match (self, self.block()) {
            // A vector of floats need not fill whole blocks of 32.
            (Self::F32, _) => weights.saturating_mul(4),
            (_, (count, size)) => (weights / count as u64).saturating_mul(size as u64),
        }
    }

    /// Claims that four bits hold its codes.
    pub(crate) fn fits_four_bits(self) -> bool {
        matches!(self, Self::Q4_0 | Self::Q4_1 | Self::Q4K)
    }

    /// Appends the codes of one block; a block of another size than this type's has none.
    pub(crate) fn decode(self, block: &[u8], into: &mut Vec<Quantized>) {
        let above = |codes| Quantized { codes, scale: half(block, 0), floor: half(block, 2) };
        let below = |codes, middle: f32| {
            let scale = half(block, 0);
            Quantized { codes, scale, floor: -middle * scale }
        };
        let one = match self {
            Self::F32 => floats(block, |bytes| f32::from_le_bytes(*bytes)),
            Self::F16 => floats(block, |bytes: &[u8; 2]| half(bytes, 0)),
            Self::Bf16 => floats(block, |[low, high]| f32::from_le_bytes([0, 0, *low, *high])),
            Self::Q4_0 => nibbles(block, 2, None).map(|codes| below(codes, 8.0)),
            Self::Q4_1 => nibbles(block, 4, None).map(above),
            Self::Q5_0 => nibbles(block, 6, Some(2)).map(|codes| below(codes, 16.0)),
            Self::Q5_1 => nibbles(block, 8, Some(4)).map(above),
            Self::Q8_0 => bytes(block).map(|codes| below(codes, 128.0)),
            Self::Q4K => return into.extend(super_block(block, None, 16).into_iter().flatten()),
            Self::Q5K => {
                return into.extend(super_block(block, Some(16), 48).into_iter().flatten());
            }
            Self::Q6K => return into.extend(six_bits(block).into_iter().flatten()),
        };
        into.extend(one);
    }
}

/// Reads the 16-bit float at `offset`; 0 if it is not there.
pub(crate) fn half(block: &[u8], offset: usize) -> f32 {
    let Some(&[low, high]) = block.get(offset..offset + 2) else { return 0.0 };
    let bits = u32::from(u16::from_le_bytes([low, high]));
    let magnitude = (bits & 0x7fff) << 13;
    let value = if bits & 0x7c00 == 0x7c00 {
        f32::from_bits(magnitude | 0x7f80_0000)
    } else {
        // The exponents of the two types differ by 112, and this is right for subnormals too.
        f32::from_bits(magnitude) * 2f32.powi(112)
    };
    if bits & 0x8000 == 0 { value } else { -value }
}

/// Rounds thirty-two floats to eight bits.
pub(crate) fn round(weights: &[f32; SPAN]) -> Quantized {
    let low = weights.iter().copied().fold(f32::INFINITY, f32::min);
    let high = weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let (floor, scale) = (low, (high - low) / 255.0);
    let steps = if scale > 0.0 { scale.recip() } else { 0.0 };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the quotient lies between 0 and 255, and such casts saturate"
    )]
    let codes = weights.map(|weight| ((weight - floor) * steps).round() as u8);
    Quantized { codes, scale, floor }
}

fn floats<const N: usize>(block: &[u8], read: impl Fn(&[u8; N]) -> f32) -> Option<Quantized> {
    let floats: &[[u8; N]; SPAN] = block.as_chunks().0.try_into().ok()?;
    let floats = floats.each_ref().map(read);
    // To round them would hide it.
    let are_numbers = floats.iter().all(|float| float.is_finite());
    let rounded = round(&floats);
    Some(if are_numbers { rounded } else { Quantized { scale: f32::NAN, ..rounded } })
}

/// Reads sixteen bytes of two codes each; `fifth` is where the fifth bits of all are, if any.
fn nibbles(block: &[u8], offset: usize, fifth: Option<usize>) -> Option<[u8; SPAN]> {
    let pairs = block.get(offset..offset + 16)?;
    let mut codes = [0; SPAN];
    let (low, high) = codes.split_at_mut(16);
    for ((low, high), pair) in low.iter_mut().zip(high).zip(pairs) {
        (*low, *high) = (pair & 15, pair >> 4);
    }
    if let Some(offset) = fifth {
        let bits = u32::from_le_bytes(block.get(offset..offset + 4)?.try_into().ok()?);
        for (place, code) in codes.iter_mut().enumerate() {
            *code |= u8::from((bits >> place) & 1 == 1) << 4;
        }
    }
    Some(codes)
}

/// Reads signed bytes as codes from 0 on.
fn bytes(block: &[u8]) -> Option<[u8; SPAN]> {
    let bytes: [u8; SPAN] = block.get(2..34)?.try_into().ok()?;
    // From two's complement to an excess of 128.
    Some(bytes.map(|byte| byte ^ 0x80))
}

/// Reads 256 codes in eight spans, with scales and floors of six bits each at 4.
fn super_block(block: &[u8], fifth: Option<usize>, low: usize) -> Option<Vec<Quantized>> {
    let (scale, floor) = (half(block, 0), half(block, 2));
    let packed = block.get(4..16)?;
    let read = |span: usize| {
        let start = low + span / 2 * 32;
        let pairs: [u8; SPAN] = block.get(start..start + 32)?.try_into().ok()?;
        let mut codes =
            pairs.map(|pair| if span.is_multiple_of(2) { pair & 15 } else { pair >> 4 });
        if let Some(offset) = fifth {
            for (code, bits) in codes.iter_mut().zip(block.get(offset..offset + 32)?) {
                *code |= ((bits >> span) & 1) << 4;
            }
        }
        let (steps, depth) = six_bit_pair(packed, span)?;
        let (scale, floor) = (scale * f32::from(steps), -floor * f32::from(depth));
        Some(Quantized { codes, scale, floor })
    };
    (0..8).map(read).collect()
}

/// Returns scale and floor of one of eight spans, of twelve packed bytes.
fn six_bit_pair(packed: &[u8], span: usize) -> Option<(u8, u8)> {
    let at = |place: usize| packed.get(place).copied();
    if span < 4 {
        return Some((at(span)? & 63, at(span + 4)? & 63));
    }
    let low = at(span + 4)?;
    Some(((low & 15) | ((at(span - 4)? >> 6) << 4), (low >> 4) | ((at(span)? >> 6) << 4)))
}

/// Reads 256 codes of six bits with a scale for every sixteen, and rounds them to eight.
fn six_bits(block: &[u8]) -> Option<Vec<Quantized>> {
    let (lows, highs, scales) = (block.get(..128)?, block.get(128..192)?, block.get(192..208)?);
    let scale = half(block, 208);
    let read = |span: usize| {
        let (part, quarter) = (span / 4, span % 4);
        let pairs = lows.get(part * 64 + quarter % 2 * 32..)?.iter().zip(highs.get(part * 32..)?);
        let mut weights = [0.0; SPAN];
        for (place, (weight, (low, high))) in weights.iter_mut().zip(pairs).enumerate() {
            let low = if quarter < 2 { low & 15 } else { low >> 4 };
            let code = low | (((high >> (quarter * 2)) & 3) << 4);
            let own = scales.get(span * 2 + place / 16)?.cast_signed();
            *weight = scale * f32::from(own) * (f32::from(code) - 32.0);
        }
        Some(round(&weights))
    };
    (0..8).map(read).collect()
}

#[cfg(test)]
mod tests;
