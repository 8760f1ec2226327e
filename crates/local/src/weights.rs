//! A weights file: opened, its header checked, its tensors read one by one.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::gguf::{Header, HeaderError, TensorInfo};
use crate::matrix::{Matrix, packed_bytes};
use crate::models::regular_size;
use crate::quant::{Kind, SPAN};

/// What a model takes beside its weights and its cache: products, scores, and the grammar.
const WORKING_MEMORY_BYTES: u64 = 64 << 20;

/// Why weights cannot be used.
#[derive(Debug, Error)]
pub enum WeightsError {
    /// The file cannot be opened.
    #[error("cannot open the weights `{}`", path.display())]
    Unopened {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The file is no whole GGUF file.
    #[error("the weights cannot be read")]
    Header(#[from] HeaderError),
    /// The file is cut off inside a tensor.
    #[error("the file has {size} bytes, but the tensor `{tensor}` ends at {end}: it was cut off")]
    Truncated {
        /// Which tensor.
        tensor: String,
        /// Where it should end.
        end: u64,
        /// How long the file is.
        size: u64,
    },
    /// Two tensors share bytes, so that a small file would become a large model.
    #[error("the tensor `{tensor}` begins at {start}, inside of another one")]
    Overlap {
        /// The one that begins later.
        tensor: String,
        /// Where it begins.
        start: u64,
    },
    /// The model is of a kind that this engine does not run.
    #[error("models of the architecture `{found}` are not supported, only {supported}")]
    Architecture {
        /// What the file says.
        found: String,
        /// What is supported.
        supported: String,
    },
    /// The tokenizer is of a kind that is not supported.
    #[error("the tokenizer is not supported: {0}")]
    Tokenizer(String),
    /// The chat template is of a kind that is not supported.
    #[error("the chat template is not supported, only ChatML and Llama 3 are")]
    Template,
    /// Something that every model has is not there.
    #[error("the weights lack `{0}`")]
    Missing(String),
    /// A size is something else.
    #[error("`{0}` is no whole number")]
    NoNumber(String),
    /// A value cannot be right.
    #[error("`{name}` is {value}, which no model has")]
    Invalid {
        /// Which value.
        name: String,
        /// What it is.
        value: u64,
    },
    /// A tensor has other sizes than the model has.
    #[error("the tensor `{tensor}` has the sizes {found:?}, not {expected:?}")]
    Shape {
        /// Which tensor.
        tensor: String,
        /// The sizes in the file.
        found: Vec<u64>,
        /// The sizes that the model has.
        expected: Vec<u64>,
    },
    /// A tensor has elements of an unknown type.
    #[error("the tensor `{tensor}` has elements of type {number}, which is not supported here")]
    Elements {
        /// Which tensor.
        tensor: String,
        /// The number of the type.
        number: u32,
    },
    /// A tensor has elements that are no numbers.
    #[error("the tensor `{tensor}` holds what is no number: the file is damaged")]
    Damaged {
        /// Which tensor.
        tensor: String,
    },
    /// The system does not give enough threads.
    #[error("cannot start {threads} threads")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// Why.
        #[source]
        source: rayon::ThreadPoolBuildError,
    },
    /// The system does not give enough memory.
    #[error("there is no memory for the model, which takes {bytes} bytes")]
    Memory {
        /// How much was asked for.
        bytes: u64,
    },
    /// The file cannot be read.
    #[error("cannot read the tensor `{tensor}`")]
    Unreadable {
        /// Which tensor.
        tensor: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
}

impl WeightsError {
    /// Claims that the machine is at fault and not the file.
    pub fn is_machine(&self) -> bool {
        matches!(self, Self::Threads { .. } | Self::Memory { .. })
    }
}

/// An open weights file whose header was checked.
#[derive(Debug)]
pub struct Weights {
    header: Header,
    file: File,
}

impl Weights {
    /// Opens a GGUF file and reads its header; all tensors must lie in the file, apart.
    pub fn open(path: &Path) -> Result<Self, WeightsError> {
        let unopened = |source| WeightsError::Unopened { path: path.to_owned(), source };
        // Before it is opened, because to open a pipe waits for the one who writes to it.
        regular_size(path).map_err(unopened)?;
        let file = File::open(path).map_err(unopened)?;
        let size = file.metadata().map_err(unopened)?.len();
        let header = Header::read(BufReader::new(&file), size)?;
        require_apart(&header, size)?;
        Ok(Self { header, file })
    }

    /// Returns what the file says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Refuses weights that there is no memory for, before it is used: to run out of it in the
    /// middle ends the process without a word. `cache_bytes` is what a full context takes.
    pub(crate) fn require_memory(&self, cache_bytes: u64) -> Result<(), WeightsError> {
        let tensors = || self.header.tensors().map(|(_, info)| info);
        let packed = tensors().map(loaded_bytes).fold(0, u64::saturating_add);
        // What is being packed is there twice.
        let largest = tensors().filter_map(stored_bytes).max().unwrap_or(0);
        let bytes = [packed, largest, cache_bytes, WORKING_MEMORY_BYTES]
            .into_iter()
            .fold(0, u64::saturating_add);
        let mut room: Vec<u8> = Vec::new();
        let asked = usize::try_from(bytes).unwrap_or(usize::MAX);
        room.try_reserve_exact(asked).map_err(|_| WeightsError::Memory { bytes })
    }

    /// Reads a matrix of `rows` rows.
    pub(crate) fn matrix(
        &mut self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<Matrix, WeightsError> {
        let (kind, bytes) = self.tensor(name, &[columns, rows])?;
        if !columns.is_multiple_of(kind.block().0) || !columns.is_multiple_of(SPAN) {
            return Err(WeightsError::Invalid { name: name.to_owned(), value: columns as u64 });
        }
        let packed = Matrix::pack(kind, &bytes, rows, columns);
        packed.ok_or_else(|| WeightsError::Damaged { tensor: name.to_owned() })
    }

    /// Reads a vector of floating-point numbers, if there is one of this name.
    pub(crate) fn optional_vector(
        &mut self,
        name: &str,
        length: usize,
    ) -> Result<Option<Vec<f32>>, WeightsError> {
        self.header.tensor(name).is_some().then(|| self.vector(name, length)).transpose()
    }

    /// Reads a vector of floating-point numbers.
    pub(crate) fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>, WeightsError> {
        let (kind, bytes) = self.tensor(name, &[length])?;
        if kind != Kind::F32 {
            let number = self.header.tensor(name).map_or(0, |info| info.kind);
            return Err(WeightsError::Elements { tensor: name.to_owned(), number });
        }
        let words = bytes.as_chunks::<4>().0;
        let numbers: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
        if !numbers.iter().all(|number| number.is_finite()) {
            return Err(WeightsError::Damaged { tensor: name.to_owned() });
        }
        Ok(numbers)
    }

    /// Reads the bytes of a tensor that has these sizes.
    fn tensor(&mut self, name: &str, sizes: &[usize]) -> Result<(Kind, Vec<u8>), WeightsError> {
        let tensor = || name.to_owned();
        let info = self.header.tensor(name).ok_or_else(|| WeightsError::Missing(tensor()))?;
        let expected: Vec<u64> = sizes.iter().map(|size| *size as u64).collect();
        if info.dimensions != expected {
            let found = info.dimensions.clone();
            return Err(WeightsError::Shape { tensor: tensor(), found, expected });
        }
        let kind = Kind::of_number(info.kind)
            .ok_or_else(|| WeightsError::Elements { tensor: tensor(), number: info.kind })?;
        let bytes = kind.bytes(elements(info));
        let length = usize::try_from(bytes).map_err(|_| WeightsError::Memory { bytes })?;
        let mut content = Vec::new();
        content.try_reserve_exact(length).map_err(|_| WeightsError::Memory { bytes })?;
        content.resize(length, 0);
        let start = info.offset;
        self.file
            .seek(SeekFrom::Start(start))
            .and_then(|_| self.file.read_exact(&mut content))
            .map_err(|source| WeightsError::Unreadable { tensor: tensor(), source })?;
        Ok((kind, content))
    }
}

/// Refuses tensors that end behind the file or share bytes.
fn require_apart(header: &Header, size: u64) -> Result<(), WeightsError> {
    let mut places: Vec<(u64, u64, &str)> = header
        .tensors()
        .filter_map(|(name, info)| {
            let bytes = stored_bytes(info)?;
            Some((info.offset, info.offset.saturating_add(bytes), name))
        })
        .collect();
    places.sort_unstable();
    let mut free = 0;
    for (start, end, name) in places {
        let tensor = name.to_owned();
        if end > size {
            return Err(WeightsError::Truncated { tensor, end, size });
        }
        if start < free {
            return Err(WeightsError::Overlap { tensor, start });
        }
        free = end;
    }
    Ok(())
}

/// Returns how many bytes a tensor has in the file; none if its type is not supported, so that it is
/// never read.
fn stored_bytes(info: &TensorInfo) -> Option<u64> {
    Kind::of_number(info.kind).map(|kind| kind.bytes(elements(info)))
}

/// Returns how many bytes a tensor takes when it is loaded.
fn loaded_bytes(info: &TensorInfo) -> u64 {
    match (Kind::of_number(info.kind), info.dimensions.as_slice()) {
        (Some(kind), [columns, rows]) => packed_bytes(kind, *rows, *columns),
        (Some(kind), [length]) => kind.bytes(*length),
        // Nothing else is loaded.
        _ => 0,
    }
}

fn elements(info: &TensorInfo) -> u64 {
    info.dimensions.iter().copied().fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests;
