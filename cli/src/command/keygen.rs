//! `keygen`: a pair of keys, each in a file of its own; and the way back from those files.
//!
//! Invariants: a file that is there is never written to; the secret key's file is for its owner alone from the first
//! moment on, and its text goes nowhere else.

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
  teamlog keygen --out auditor")]
#[command(
    long_about = "Make a pair of keys, to sign receipts with\n\nThe secret key goes to FILE, which only you may read; the \
        public one, which whoever checks receipts needs, to FILE.pub. Existing files are left alone."
)]
pub struct Args {
    /// File of the secret key; the public one goes beside it, with .pub behind its name
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Far more than a key has.
const KEY_BYTES_MAX: u64 = 64 << 10;

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let key = SecretKey::from_seed(random::bytes::<SEED_BYTES>()?);
        let public_file = beside(&self.out);
        store(&self.out, &public_file, &key)?;
        let shown = |path: &Path| path.display().to_string();
        let answer = KeygenAnswer::of(&key, shown(&self.out), shown(&public_file));
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
        error.or_hint("make a new key if somebody may have read it; else chmod 600")
    })?;
    Ok(SecretKey::parse(&text_of(file, path)?)?)
}

pub fn public_key(env: &ProcessEnv, path: &Path) -> Result<PublicKey, CommandError> {
    Ok(PublicKey::parse(&text_of(open(env, "key", path)?, path)?)?)
}

fn text_of(file: File, path: &Path) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    file.take(KEY_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(failed("read", path))?;
    // What is no text is no key either, and is refused as such.
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// The file of the public key.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".pub");
    PathBuf::from(name)
}

/// Both files come into the world, or neither.
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

/// Takes back what was created a moment ago. The error that led here is the one to be told.
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}
