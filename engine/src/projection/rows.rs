//! The rows of one projection, as its fold reads and changes them.

use super::ProjectionError;
use crate::derived::{Changes, Value};
use crate::limits::{PROJECTION_KEY_BYTES_MAX, PROJECTION_VALUE_BYTES_MAX};
use crate::prelude::*;
use std::cell::OnceCell;

/// Bytes of a stored key that need no allocation.
const SHORT_KEY: usize = 64;

/// The rows of one projection during [`Projection::apply`](super::Projection::apply): reads see the changes made so far.
pub struct RowChanges<'a> {
    changes: &'a mut dyn Changes,
    namespace: u8,
    failure: OnceCell<Error>,
}

impl<'a> RowChanges<'a> {
    pub(super) fn new(changes: &'a mut dyn Changes, namespace: u8) -> RowChanges<'a> {
        RowChanges {
            changes,
            namespace,
            failure: OnceCell::new(),
        }
    }

    /// Returns the first error of a read or a change.
    pub(super) fn failure(self) -> Option<Error> {
        self.failure.into_inner()
    }

    /// Returns the value of a row; `None` if there is no such row.
    ///
    /// # Errors
    /// I/O errors, damage of the stored rows. The set handles both; return the error.
    pub fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>, ProjectionError> {
        let key = StoredKey::new(self.namespace, key);
        match self.changes.get(key.bytes()) {
            Ok(value) => Ok(value.map(|value| match value {
                Value::Changed(bytes) => Cow::Borrowed(bytes),
                Value::Stored(bytes) => Cow::Owned(bytes.to_vec()),
            })),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Sets a row.
    ///
    /// # Errors
    /// `TooLarge` for a key of more than [`PROJECTION_KEY_BYTES_MAX`] bytes, or a value of more than [`PROJECTION_VALUE_BYTES_MAX`]
    /// bytes.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), ProjectionError> {
        let fits = within("the key of a row", key, PROJECTION_KEY_BYTES_MAX)
            .and_then(|()| within("the value of a row", value, PROJECTION_VALUE_BYTES_MAX));
        fits.map_err(|error| self.failed(error))?;
        let key = StoredKey::new(self.namespace, key);
        self.changes.put(key.bytes(), value);
        Ok(())
    }

    /// Removes a row, if there is such a row.
    pub fn delete(&mut self, key: &[u8]) {
        // No row has a longer key, and no run accepts one.
        if key.len() <= PROJECTION_KEY_BYTES_MAX {
            let key = StoredKey::new(self.namespace, key);
            self.changes.delete(key.bytes());
        }
    }

    /// Returns a row as a number: see [`RowChanges::put_number`]. `None` if there is no such row.
    ///
    /// # Errors
    /// The errors of [`RowChanges::get`]; an error for a row that is no number.
    pub fn number(&self, key: &[u8]) -> Result<Option<i64>, ProjectionError> {
        let value = self.get(key)?;
        value
            .map(|value| number(&value))
            .transpose()
            .map_err(ProjectionError::new)
    }

    /// Sets a row to a number: eight bytes, little-endian.
    ///
    /// # Errors
    /// The errors of [`RowChanges::put`].
    pub fn put_number(&mut self, key: &[u8], number: i64) -> Result<(), ProjectionError> {
        self.put(key, &number.to_le_bytes())
    }

    /// Adds to a number; a missing row counts as 0.
    ///
    /// # Errors
    /// The errors of [`RowChanges::number`] and [`RowChanges::put`]; an error if the sum is out of range.
    pub fn add(&mut self, key: &[u8], amount: i64) -> Result<(), ProjectionError> {
        let number = self.number(key)?.unwrap_or_default();
        let sum = number.checked_add(amount);
        let overflow = || ProjectionError::new(format!("{number} + {amount} is out of range"));
        self.put_number(key, sum.ok_or_else(overflow)?)
    }

    fn failed(&self, error: Error) -> ProjectionError {
        let _ = self.failure.set(error.clone());
        error.into()
    }
}

impl std::fmt::Debug for RowChanges<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowChanges").finish_non_exhaustive()
    }
}

/// Decodes a number; returns the reason if the value is no number.
pub(super) fn number(value: &[u8]) -> Result<i64, String> {
    let bytes = value.try_into();
    bytes.map(i64::from_le_bytes).map_err(|_| {
        let len = value.len();
        format!("a number must have 8 bytes, but the row has {len}")
    })
}

fn within(what: &'static str, bytes: &[u8], max: usize) -> Result<()> {
    match bytes.len() > max {
        true => Err(Error::too_large(what, bytes.len() as u64, max as u64)),
        false => Ok(()),
    }
}

/// The key of a row in the store: the namespace, then the projection's key.
pub(super) enum StoredKey {
    Short([u8; SHORT_KEY], usize),
    Long(Vec<u8>),
}

impl StoredKey {
    pub fn new(namespace: u8, key: &[u8]) -> StoredKey {
        let mut short = [0; SHORT_KEY];
        if let Some((first, rest)) = short.split_first_mut()
            && let Some(place) = rest.get_mut(..key.len())
        {
            *first = namespace;
            place.copy_from_slice(key);
            return StoredKey::Short(short, key.len() + 1);
        }
        StoredKey::Long([&[namespace], key].concat())
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            StoredKey::Short(bytes, len) => bytes.get(..*len).unwrap_or_default(),
            StoredKey::Long(bytes) => bytes,
        }
    }
}
