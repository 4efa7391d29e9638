//! Nothing. `brush-parser` names `insta` among its dependencies, but uses it in its own tests only; the real one brings
//! a dozen crates more into every build of teamlog.
#![forbid(unsafe_code)]
