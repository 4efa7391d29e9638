//! `keygen`: generates a key pair in two files, and reads key files.
//!
//! Invariants: an existing file is never overwritten; the file of the secret key is readable only by its owner, from its
//! creation on; the text of the secret key is not copied elsewhere.

use crate::command::prelude::*;
use crate::file::{self, check_private, failed, fill, open, sync_names};
use crate::random;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use teamlog_team::receipt::key::SEED_BYTES;
use teamlog_team::receipt::keygen::KeygenAnswer;
use teamlog_team::{PublicKey, SecretKey};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog keygen --out auditor
  teamlog keygen --out ../auditor --json")]
#[command(
    long_about = "Generate a key pair for signed receipts\n\nThe secret key is written to FILE, which only you can read, and the public key to FILE.pub, for people who check your receipts. Existing files are not overwritten."
)]
pub struct Args {
    /// File for the secret key; the public key is written to the same path with .pub appended
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Maximum number of bytes read of a key file.
const KEY_BYTES_MAX: u64 = 64 << 10;

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let key = SecretKey::from_seed(random::bytes::<SEED_BYTES>()?);
        let public_file = beside(&self.out);
        store(&self.out, &public_file, &key)?;
        let shown = |path: &Path| path.display().to_string();
        let answer = KeygenAnswer::new(&key, shown(&self.out), shown(&public_file));
        context.end(Exit::Done, &answer, |answer, _| {
            vec![
                format!("secret key in {}, for you alone", visible(&answer.key_file)),
                format!("public key in {}", visible(&answer.public_key_file)),
                format!("  {}", answer.public_key),
            ]
        })
    }
}

pub fn secret_key(env: &ProcessEnv, path: &Path) -> Result<SecretKey, CommandError> {
    let file = open(env, "key", path)?;
    check_private("key", path, &file).map_err(|error| {
        error.or_hint("if another user may have read the key, make a new one; otherwise chmod 600")
    })?;
    SecretKey::parse(&text_of(file, path)?).map_err(|_| not_a_key("secret", path))
}

pub fn public_key(env: &ProcessEnv, path: &Path) -> Result<PublicKey, CommandError> {
    let text = text_of(open(env, "key", path)?, path)?;
    PublicKey::parse(&text).map_err(|_| not_a_key("public", path))
}

fn not_a_key(kind: &str, path: &Path) -> CommandError {
    let message = format!(
        "{} holds no {kind} key in the form that keygen writes",
        path.display()
    );
    CommandError::invalid("key", message)
}

fn text_of(file: File, path: &Path) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    file.take(KEY_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(failed("read", path))?;
    // Invalid UTF-8 becomes an empty text, which is not a valid key and is therefore refused.
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// Returns the path of the public key that belongs to the secret key at `path`.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".pub");
    PathBuf::from(name)
}

/// Creates both key files. If one file cannot be created, creates neither file.
fn store(secret: &Path, public: &Path, key: &SecretKey) -> Result<(), CommandError> {
    let secret_file = create(secret, 0o600)?;
    let public_file = create(public, 0o644).inspect_err(|_| remove(secret))?;
    let written = key
        .text()
        .map_err(failed("encode", secret))
        .and_then(|text| fill(secret_file, secret, &text))
        .and_then(|()| key.public().text().map_err(failed("encode", public)))
        .and_then(|text| fill(public_file, public, &text))
        .and_then(|()| sync_names(secret));
    written.inspect_err(|_| {
        remove(secret);
        remove(public);
    })
}

fn create(path: &Path, mode: u32) -> Result<File, CommandError> {
    file::create("key_exists", path, mode)
}

/// Removes a file that was just created. Errors are ignored, because the caller reports the error that caused the removal.
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}
