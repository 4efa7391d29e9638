//! Read-only maps of sealed files: the one module that may use unsafe.
