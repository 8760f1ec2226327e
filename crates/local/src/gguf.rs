//! GGUF: what a weights file says about itself, read with limits.
//!
//! Every length is checked against what the file can still hold before anything is allocated, so
//! a hostile header costs no more memory than some times its own size, which has a limit. Tensors
//! are described here, not read.

use std::collections::HashMap;
use std::io::Read;

use thiserror::Error;

/// How many bytes the header may take. Vocabularies of 250,000 tokens with their merges take 15 MB.
const HEADER_LIMIT_BYTES: u64 = 64 << 20;

/// How many entries and tensors a header may name; large models have some thousands.
const ENTRY_LIMIT: u64 = 65_536;

/// What tensors are aligned to if the file does not say.
const DEFAULT_ALIGNMENT: u64 = 32;

/// Why a file is no GGUF header.
#[derive(Debug, Error)]
pub enum HeaderError {
    /// It does not begin as GGUF does.
    #[error("this is no GGUF file")]
    NotGguf,
    /// It is of another version.
    #[error("GGUF version {0} is not supported, only 2 and 3 are")]
    Version(u32),
    /// It ends too early.
    #[error("the file ends inside its header")]
    Truncated,
    /// The header is over a limit.
    #[error("the header has {what} {size}, over the limit of {limit}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        size: u64,
        /// How much there may be.
        limit: u64,
    },
    /// The header contradicts the format.
    #[error("the header is corrupt: {0}")]
    Corrupt(&'static str),
    /// The file cannot be read.
    #[error("the header cannot be read")]
    Unreadable(#[source] std::io::Error),
}

/// A value of the metadata.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number that is not negative, of any width; or a flag.
    Natural(u64),
    /// A negative number.
    Negative(i64),
    /// A number with a fraction.
    Real(f64),
    /// A text; what is no UTF-8 in it is replaced.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// A list of whole numbers that fit 32 bits.
    Integers(Vec<i64>),
    /// A list of something else, which no supported model needs.
    Skipped,
}

/// Where a tensor lies and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// Its sizes, the fastest running first.
    pub dimensions: Vec<u64>,
    /// The number of its element type.
    pub kind: u32,
    /// Where it starts, from the start of the file.
    pub offset: u64,
}

/// What a weights file says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    metadata: HashMap<String, Value>,
    tensors: HashMap<String, TensorInfo>,
}

impl Header {
    /// Reads the header of a file of `size` bytes.
    pub fn read(source: impl Read, size: u64) -> Result<Self, HeaderError> {
        let mut reader = Reader { source, position: 0, end: size.min(HEADER_LIMIT_BYTES), size };
        if &reader.array::<4>()? != b"GGUF" {
            return Err(HeaderError::NotGguf);
        }
        let version = reader.u32()?;
        if !(2..=3).contains(&version) {
            return Err(HeaderError::Version(version));
        }
        let tensors = reader.count("tensors")?;
        let entries = reader.count("entries")?;
        let mut metadata = HashMap::new();
        for _ in 0..entries {
            let key = reader.text()?;
            let kind = reader.u32()?;
            let value = reader.value(kind)?;
            if metadata.insert(key, value).is_some() {
                return Err(HeaderError::Corrupt("a key is there twice"));
            }
        }
        let mut infos = HashMap::new();
        for _ in 0..tensors {
            let (name, info) = reader.tensor()?;
            if infos.insert(name, info).is_some() {
                return Err(HeaderError::Corrupt("a tensor is there twice"));
            }
        }
        let mut header = Self { metadata, tensors: infos };
        header.place_tensors(reader.position)?;
        Ok(header)
    }

    /// Turns offsets from the end of the header into offsets from the start of the file.
    fn place_tensors(&mut self, end_of_header: u64) -> Result<(), HeaderError> {
        let alignment = self.natural("general.alignment").unwrap_or(DEFAULT_ALIGNMENT);
        let start = (alignment.is_power_of_two())
            .then(|| end_of_header.checked_next_multiple_of(alignment))
            .flatten()
            .ok_or(HeaderError::Corrupt("the alignment is no power of two"))?;
        for info in self.tensors.values_mut() {
            info.offset = info
                .offset
                .checked_add(start)
                .ok_or(HeaderError::Corrupt("a tensor lies beyond any file"))?;
        }
        Ok(())
    }

    /// Returns a value of the metadata.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    /// Returns a text of the metadata.
    pub fn text(&self, key: &str) -> Option<&str> {
        let Value::Text(text) = self.value(key)? else { return None };
        Some(text)
    }

    /// Returns a list of texts of the metadata.
    pub fn texts(&self, key: &str) -> Option<&[String]> {
        let Value::Texts(texts) = self.value(key)? else { return None };
        Some(texts)
    }

    /// Returns a list of whole numbers of the metadata.
    pub fn integers(&self, key: &str) -> Option<&[i64]> {
        let Value::Integers(numbers) = self.value(key)? else { return None };
        Some(numbers)
    }

    /// Returns a whole number of the metadata.
    pub fn natural(&self, key: &str) -> Option<u64> {
        let Value::Natural(number) = self.value(key)? else { return None };
        Some(*number)
    }

    /// Returns a number of the metadata that has a fraction.
    pub fn real(&self, key: &str) -> Option<f64> {
        let Value::Real(number) = self.value(key)? else { return None };
        Some(*number)
    }

    /// Returns the names of all tensors and where they lie, in no order.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &TensorInfo)> {
        self.tensors.iter().map(|(name, info)| (name.as_str(), info))
    }

    /// Returns where a tensor lies.
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.get(name)
    }
}

/// Reads little-endian values and counts how much is left.
struct Reader<R> {
    source: R,
    position: u64,
    /// Where the header must have ended: the end of the file, or the limit.
    end: u64,
    size: u64,
}

impl<R: Read> Reader<R> {
    /// Claims that `bytes` more are there.
    fn demand(&self, bytes: u64) -> Result<(), HeaderError> {
        match self.position.checked_add(bytes) {
            Some(end) if end <= self.end => Ok(()),
            Some(end) if end <= self.size => {
                Err(HeaderError::TooLarge { what: "bytes", size: end, limit: HEADER_LIMIT_BYTES })
            }
            _ => Err(HeaderError::Truncated),
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), HeaderError> {
        let length = bytes.len() as u64;
        self.demand(length)?;
        self.source.read_exact(bytes).map_err(|error| {
            if error.kind() == std::io::ErrorKind::UnexpectedEof {
                return HeaderError::Truncated;
            }
            HeaderError::Unreadable(error)
        })?;
        self.position += length;
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], HeaderError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, HeaderError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, HeaderError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn count(&mut self, what: &'static str) -> Result<u64, HeaderError> {
        let size = self.u64()?;
        if size > ENTRY_LIMIT {
            return Err(HeaderError::TooLarge { what, size, limit: ENTRY_LIMIT });
        }
        Ok(size)
    }

    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, HeaderError> {
        self.demand(length)?;
        let length = usize::try_from(length).map_err(|_| HeaderError::Truncated)?;
        let mut bytes = vec![0; length];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<String, HeaderError> {
        let length = self.u64()?;
        let bytes = self.bytes(length)?;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn value(&mut self, kind: u32) -> Result<Value, HeaderError> {
        Ok(match kind {
            0..=5 | 10 | 11 => match self.integer(kind)? {
                number if number >= 0 => Value::Natural(number.unsigned_abs()),
                number => Value::Negative(number),
            },
            6 => Value::Real(f64::from(f32::from_le_bytes(self.array()?))),
            7 => Value::Natural(u64::from(u8::from_le_bytes(self.array()?))),
            8 => Value::Text(self.text()?),
            9 => self.list()?,
            12 => Value::Real(f64::from_le_bytes(self.array()?)),
            _ => return Err(HeaderError::Corrupt("a value has an unknown type")),
        })
    }

    /// Reads a whole number; one beyond 63 bits stands for no length that any file has.
    fn integer(&mut self, kind: u32) -> Result<i64, HeaderError> {
        Ok(match kind {
            0 => i64::from(u8::from_le_bytes(self.array()?)),
            1 => i64::from(i8::from_le_bytes(self.array()?)),
            2 => i64::from(u16::from_le_bytes(self.array()?)),
            3 => i64::from(i16::from_le_bytes(self.array()?)),
            4 => i64::from(self.u32()?),
            5 => i64::from(i32::from_le_bytes(self.array()?)),
            10 => i64::try_from(self.u64()?)
                .map_err(|_| HeaderError::Corrupt("a number is beyond 63 bits"))?,
            _ => i64::from_le_bytes(self.array()?),
        })
    }

    fn list(&mut self) -> Result<Value, HeaderError> {
        let kind = self.u32()?;
        let length = self.u64()?;
        let width: u64 = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10..=12 => 8,
            _ => return Err(HeaderError::Corrupt("a list has an unknown type")),
        };
        self.demand(length.saturating_mul(width))?;
        match kind {
            4 | 5 => (0..length)
                .map(|_| self.integer(kind))
                .collect::<Result<_, _>>()
                .map(Value::Integers),
            8 => (0..length).map(|_| self.text()).collect::<Result<_, _>>().map(Value::Texts),
            _ => {
                self.skip(length.saturating_mul(width))?;
                Ok(Value::Skipped)
            }
        }
    }

    fn skip(&mut self, mut length: u64) -> Result<(), HeaderError> {
        const STEP: u64 = 4096;
        while length > 0 {
            let step = length.min(STEP);
            self.bytes(step)?;
            length -= step;
        }
        Ok(())
    }

    fn tensor(&mut self) -> Result<(String, TensorInfo), HeaderError> {
        let name = self.text()?;
        let rank = self.u32()?;
        if !(1..=4).contains(&rank) {
            return Err(HeaderError::Corrupt("a tensor has no dimension, or more than four"));
        }
        let dimensions = (0..rank).map(|_| self.u64()).collect::<Result<_, _>>()?;
        Ok((name, TensorInfo { dimensions, kind: self.u32()?, offset: self.u64()? }))
    }
}

#[cfg(test)]
mod tests;
