//! The bulk pipeline: spans are decoded in parallel, each projection folds the ordered stream on its own worker.
