//! The user's token: never printed, logged or stored. It has no `Debug` or `Display`.

use anyhow::{Context as _, bail};
use std::path::Path;
use zeitnot_base::files;

/// The environment variable that lichess' own provider reads, too.
const VARIABLE: &str = "LICHESS_API_TOKEN";

/// The page on which a user makes a token of the right scopes.
const PAGE: &str = "https://lichess.org/account/oauth/token/create?scopes[]=engine:read&scopes[]=engine:write";

/// A personal access token of lichess.
pub struct Token(String);

impl Token {
    /// The token in a file, or that of the environment.
    ///
    /// # Errors
    /// When there is none, or what is there cannot be one.
    pub fn find(file: Option<&Path>) -> anyhow::Result<Token> {
        let (text, place) = match file {
            Some(path) => {
                let text = files::read_text(path).with_context(|| format!("cannot read {}", path.display()))?;
                (text, path.display().to_string())
            }
            None => match std::env::var(VARIABLE) {
                Ok(text) => (text, VARIABLE.to_owned()),
                Err(_) => {
                    bail!("no token: make one at {PAGE} and put it into {VARIABLE}, or into a file for --token-file")
                }
            },
        };
        let text = text.trim();
        if text.is_empty() || !text.chars().all(|c| c.is_ascii_graphic()) {
            bail!("{place} holds no token: it is one word");
        }
        Ok(Token(text.to_owned()))
    }

    /// The value of the `Authorization` header with the token.
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.0)
    }
}
