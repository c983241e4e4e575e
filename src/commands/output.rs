//! What commands print: to a reader who may have gone, or a disk that may be full.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _};

/// Prints a text as it is. When nobody reads any more (`zeitnot match | head`) the program ends quietly; any other failure
/// is named and ends it with an error.
pub fn text(text: impl Display) {
    let mut stdout = std::io::stdout().lock();
    match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            eprintln!("zeitnot: cannot write the output: {error}");
            std::process::exit(1);
        }
    }
}

/// [`text`] and a line break; formats like `println!`.
macro_rules! say {
    ($($arg:tt)*) => { $crate::commands::output::text(format_args!("{}\n", format_args!($($arg)*))) };
}
pub(super) use say;
