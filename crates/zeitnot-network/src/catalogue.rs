//! The catalogue of well-known networks: their addresses, shapes, sizes and uses.
//!
//! Sources: sizes, links and GPU memory are those of Lc0's pages "Best Networks", "Human Sparring Networks" and "Legacy
//! Networks" (LeelaChessZero/lczero.org, June 2026); checksums are those that package recipes pin (Guix, Nix and
//! Homebrew), or were computed from the file. An entry lacks a checksum if none was published when the entry was
//! written. A licence is given where the authors state one for the network.

use serde::{Serialize, Serializer};

#[cfg(feature = "download")]
use super::FetchError;

/// A network of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The name to fetch the network by.
    pub name: &'static str,
    /// The body, such as `SE 6x64` (blocks x filters) or `transformer 10x256` (encoders x width).
    pub architecture: &'static str,
    /// The size of the file.
    #[serde(flatten)]
    pub size: Size,
    /// The machine that the network suits.
    pub hardware: Hardware,
    /// One line of advice.
    pub advice: &'static str,
    /// The licence that the network's authors state, as an SPDX identifier; `None` where they state none.
    pub licence: Option<&'static str>,
    /// Address of the download.
    pub url: &'static str,
    /// The SHA-256 of the file in lower-case hexadecimal, where it is known.
    pub sha256: Option<&'static str>,
}

/// The size of a file in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Exact size.
    Exact(u64),
    /// Rounded size, from the network's page or, without one, from a network of the same shape.
    About(u64),
}

impl Size {
    /// The number of bytes, exact or not.
    pub fn bytes(self) -> u64 {
        match self {
            Size::Exact(bytes) | Size::About(bytes) => bytes,
        }
    }

    /// The most bytes to download for a file of this size: twice the size where it is known only roughly.
    pub fn limit(self) -> u64 {
        match self {
            Size::Exact(bytes) => bytes,
            Size::About(bytes) => 2 * bytes,
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut fields = serializer.serialize_struct("Size", 2)?;
        fields.serialize_field("bytes", &self.bytes())?;
        fields.serialize_field("bytes_exact", &matches!(self, Size::Exact(_)))?;
        fields.end()
    }
}

/// The machine that a network suits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Hardware {
    /// Any CPU: thousands of evaluations a second on one core.
    AnyCpu,
    /// A CPU: hundreds of evaluations a second on one core; or a graphics card of any age.
    Cpu,
    /// A laptop's or an older graphics card with 2 GB of memory or more.
    LaptopGpu,
    /// A desktop graphics card with 3 GB of memory or more.
    Gpu,
    /// A large graphics card with 4 GB of memory or more.
    LargeGpu,
}

impl Hardware {
    /// The name of the machine, for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Hardware::AnyCpu => "any CPU",
            Hardware::Cpu => "CPU",
            Hardware::LaptopGpu => "laptop GPU",
            Hardware::Gpu => "GPU",
            Hardware::LargeGpu => "large GPU",
        }
    }
}

use Hardware::{AnyCpu, Cpu, Gpu, LaptopGpu, LargeGpu};

const MEBIBYTE: f64 = 1_048_576.0;

/// A size that a page states in mebibytes.
const fn mebibytes(number: f64) -> Size {
    Size::About((number * MEBIBYTE) as u64)
}

macro_rules! contributed {
    ($file:literal) => {
        concat!("https://storage.lczero.org/files/networks-contrib/", $file)
    };
}
macro_rules! trained {
    ($id:literal) => {
        concat!("https://storage.lczero.org/files/networks/", $id)
    };
}
macro_rules! by_sum {
    ($sum:literal) => {
        concat!("https://training.lczero.org/get_network?sha=", $sum)
    };
}
macro_rules! maia {
    ($rating:literal, $bytes:literal, $sha256:literal) => {
        Entry {
            name: concat!("maia-", $rating),
            architecture: "SE 6x64",
            size: Size::Exact($bytes),
            hardware: Hardware::AnyCpu,
            advice: concat!("Plays like people rated ", $rating, " on Lichess; meant for one node a move"),
            licence: Some("GPL-3.0-only"),
            url: concat!("https://github.com/CSSLab/maia-chess/releases/download/v1.0/maia-", $rating, ".pb.gz"),
            sha256: Some($sha256),
        }
    };
}

/// Makes an entry without a licence; `sum` is the file's SHA-256, empty where it is not known.
const fn network(
    name: &'static str,
    architecture: &'static str,
    size: Size,
    hardware: Hardware,
    advice: &'static str,
    url: &'static str,
    sum: &'static str,
) -> Entry {
    let sha256 = if sum.is_empty() { None } else { Some(sum) };
    Entry { name, architecture, size, hardware, advice, licence: None, url, sha256 }
}

/// All networks, the strongest of each kind of machine first.
#[rustfmt::skip]
pub static ENTRIES: &[Entry] = &[
    network("BT4-it332", "transformer 15x1024, 32 heads", Size::Exact(382_645_315), LargeGpu,
        "The strongest of 2026; what Lc0 sends to tournaments; 4 GB of GPU memory",
        contributed!("BT4-1024x15x32h-swa-6147500-policytune-332.pb.gz"),
        "e6ada9d6c4a769bfab3aa0848d82caeb809aa45f83e6c605fc58a31d21bdd618"),
    network("BT4-1740", "transformer 15x1024, 32 heads", mebibytes(380.0), LargeGpu,
        "The tournament network before BT4-it332; 4 GB of GPU memory",
        contributed!("big-transformers/BT4-1740.pb.gz"),
        "4a97d91c91e7ba7d27bb12cfd6d39975a7819372396479869431cbb479a97fcb"),
    network("BT4", "transformer 15x1024, 32 heads", mebibytes(330.0), LargeGpu,
        "BT4 as it was trained; 4 GB of GPU memory",
        contributed!("big-transformers/BT4-1024x15x32h-swa-6147500.pb.gz"), ""),
    network("BT3", "transformer 15x768, 24 heads", mebibytes(182.1), Gpu,
        "The choice for a desktop's graphics card; 2.6 GB of GPU memory",
        contributed!("BT3-768x15x24h-swa-2790000.pb.gz"),
        "e3067757d1fc2dfc66947b21d15ace0cedf4c54254fc1de83d77c378a3e8b8e1"),
    network("T82", "transformer 15x768, 24 heads", mebibytes(165.0), Gpu,
        "Lc0's run T82; 2.4 GB of GPU memory",
        "https://storage.lczero.org/files/768x15x24h-t82-swa-7464000.pb.gz", ""),
    network("T2", "transformer 15x768, 24 heads", mebibytes(165.0), Gpu,
        "Contributed after T1, before the distilled networks; for comparisons",
        contributed!("t2-768x15x24h-swa-5230000.pb.gz"),
        "bc1454c93cf8cbe2245977b6507343bb3e46c36daac7d89f2a9308bf6001c388"),
    network("T3-512", "transformer 15x512, 16 heads", mebibytes(152.0), LaptopGpu,
        "The choice for a laptop's graphics card; 1.8 GB of GPU memory",
        contributed!("t3-512x15x16h-distill-swa-2767500.pb.gz"), ""),
    network("T1-512", "transformer 15x512, 8 heads", mebibytes(142.8), LaptopGpu,
        "The predecessor of T3-512; 1.8 GB of GPU memory",
        contributed!("t1-512x15x8h-distilled-swa-3395000.pb.gz"),
        "1fdb1519e5b02e03f1d9201ec8eb95f640e32cc6459a4f14c0eab6890dc097e8"),
    network("T1-256", "transformer 10x256, 8 heads", Size::Exact(37_118_673), Cpu,
        "The choice for a CPU with several fast cores and for weak graphics cards",
        contributed!("t1-256x10-distilled-swa-2432500.pb.gz"),
        "bc27a6cae8ad36f2b9a80a6ad9dabb0d6fda25b1e7f481a79bc359e14f563406"),
    network("611246", "SE 30x384", mebibytes(131.0), Gpu,
        "The end of the run T60 (2022): the largest residual tower",
        trained!("7ca2381cfeac5c280f304e7027ffbea1b7d87474672e5d6fb16d5cd881640e04"),
        "9ce7440198a9f9b4e95b22a4dfbd604d4426ebd4231b852e6c1e668ce5765765"),
    network("42850", "SE 20x256", mebibytes(55.0), LaptopGpu,
        "The last network of the run T40",
        trained!("00af53b081e80147172e6f281c01daf5ca19ada173321438914c730370aa4267"),
        "12df03a12919e6392f3efbe6f461fc0ff5451b4105f755503da151adc7ab6d67"),
    network("791556", "SE 15x192, attention policy", mebibytes(18.0), Cpu,
        "The network in Lc0's own packages (run T79, 2022)",
        trained!("f404e156ceb2882470fd8c032b8754af0fa0b71168328912eaef14671a256e34"),
        "b1c7047582a8ad37620849bf328935cb46f2ccbbecb7f2696c30c6b913ed690d"),
    network("753723", "SE 15x192", mebibytes(18.0), Cpu,
        "The network in Homebrew's Lc0 (run T75)",
        by_sum!("3e3444370b9fe413244fdc79671a490e19b93d3cca1669710ffeac890493d198"),
        "ca9a751e614cc753cb38aee247972558cf4dc9d82c5d9e13f2f1f464e350ec23"),
    network("744706", "SE 10x128", mebibytes(6.1), AnyCpu,
        "Of the run T74: strong for a slow CPU",
        contributed!("744706.pb.gz"),
        "430f9ac229eafc1b4c305ba20adf7e4b4c5d7a0a3f032307398ac8e349b722c8"),
    network("LD2", "SE 10x128", mebibytes(6.1), AnyCpu,
        "Little Demon 2, a contributed sibling of 744706",
        contributed!("LD2.pb.gz"),
        "04ba214ce1277ece9b781e8a1ec1ef2dd4d8f294f496cc8e6fef325f298db60a"),
    network("703810", "SE 10x128", mebibytes(6.0), AnyCpu,
        "The last network of the run T70",
        by_sum!("b30e742bcfd905815e0e7dbd4e1bafb41ade748f85d006b8e28758f1a3107ae3"), ""),
    network("badgyal-8", "SE 10x128", mebibytes(6.0), AnyCpu,
        "Trained on Lichess games: attacks, and strong for its size",
        "https://github.com/dkappe/leela-chess-weights/files/3799966/badgyal-8.pb.gz",
        "ef0a7e4c977fce5123e3e1bbee422bfbab031a7aaad6e02d6e46aeb8d06f2295"),
    network("goodgyal-5", "SE 5x48", mebibytes(1.0), AnyCpu,
        "Small, trained on Lichess games",
        "https://github.com/dkappe/leela-chess-weights/files/3422292/goodgyal-5.pb.gz", ""),
    network("evilgyal-6", "SE 5x48", mebibytes(1.0), AnyCpu,
        "Small, trained on Lichess games; likes gambits",
        "https://github.com/dkappe/leela-chess-weights/files/3468575/evilgyal-6.pb.gz", ""),
    Entry { licence: Some("GPL-3.0-only"), ..network("meangirl-8", "SE 4x32", Size::Exact(746_615), AnyCpu,
        "Very small: a sparring partner, and a quick test",
        "https://github.com/dkappe/leela-chess-weights/releases/download/mean-girl-8/meangirl-8.pb.gz",
        "ba558d1fc9ee53bb9e4b428835abc27bf63f73b3196e1a8b9a9f93256148c165") },
    network("tinygyal-8", "SE 2x16", Size::Exact(430_158), AnyCpu,
        "The smallest: weak, and a quick test",
        "https://github.com/dkappe/leela-chess-weights/files/4432261/tinygyal-8.pb.gz",
        "b6b55cb12f653f7321b79adfa5c87067762f23284f7799858b5db855add961a2"),
    maia!("1100", 1_313_193, "e1cf1cd0c96b8a4fa6a275f4b9fd54ed1ffebf9fe44641b9fceded310e9619c4"),
    maia!("1200", 1_249_692, "ead4ba953f233ae732999ebc1e2b675378148527ebcfad2f0acbc5e4c224d98e"),
    maia!("1300", 1_244_431, "36195f87bf4761834baa0bf87472b18509a7261a9d7d6f1a8443261369a733f2"),
    maia!("1400", 1_328_977, "d5353ea6766356dad2d28920c6692f37a5f30963767f1a3105d33b4d0af011e8"),
    maia!("1500", 1_258_199, "35ab6f20421d59e1df3b17c5a5016947af4c6761368ef84044a9a9c7619a9a00"),
    maia!("1600", 1_313_870, "d2c9e5948581acf4b9fc0b1e720c5dc0fe64ce80cfc4a239d3f8a42e1176c876"),
    maia!("1700", 1_313_415, "d277eacd792d340a30abb464dc65127254e65cac57abca17facc469889b96478"),
    maia!("1800", 1_289_431, "0031ad7c4256b1fd09fbebd28418d644d68b26cd2a45df4967ccf5c7ec9c4965"),
    maia!("1900", 1_262_607, "e2f565f42d7cd9f122557e6dc4eb84e5bbaedceda1d404dc485d3611c7c97a12"),
    network("maia-2200", "SE 6x64", mebibytes(1.2), AnyCpu,
        "A Maia for 2200, made by another author; meant for one node a move",
        "https://github.com/CallOn84/LeelaNets/raw/refs/heads/main/Nets/Maia%202200/maia-2200.pb.gz", ""),
];

impl Entry {
    /// Name of the downloaded file: the entry's name and the ending of network files.
    pub fn file_name(&self) -> String {
        format!("{}.pb.gz", self.name)
    }
}

/// The entry with this name, in upper or lower case.
///
/// # Errors
/// When no entry has the name; the message lists the closest names.
#[cfg(feature = "download")]
pub fn find(name: &str) -> Result<&'static Entry, FetchError> {
    let lower = name.to_ascii_lowercase();
    ENTRIES.iter().find(|entry| entry.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let close = |entry: &&Entry| {
            let known = entry.name.to_ascii_lowercase();
            known.contains(&lower) || lower.contains(&known)
        };
        let mut names: Vec<&str> = ENTRIES.iter().filter(close).map(|entry| entry.name).collect();
        if names.is_empty() || lower.is_empty() {
            names = ENTRIES.iter().map(|entry| entry.name).collect();
        }
        FetchError::NotInCatalogue { name: name.to_owned(), names: names.join(", ") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_well_formed_and_unique() {
        for (index, entry) in ENTRIES.iter().enumerate() {
            assert!(entry.url.starts_with("https://"), "{}", entry.name);
            assert!(entry.size.bytes() > 100_000 && !entry.advice.ends_with('.'), "{}", entry.name);
            if let Some(sum) = entry.sha256 {
                let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
                assert!(sum.len() == 64 && sum.bytes().all(digit), "{}", entry.name);
            }
            for other in &ENTRIES[..index] {
                assert!(!entry.name.eq_ignore_ascii_case(other.name) && entry.url != other.url, "{}", entry.name);
                assert!(entry.sha256.is_none() || entry.sha256 != other.sha256, "{}", entry.name);
            }
        }
    }

    #[test]
    fn a_download_is_bounded_by_the_size_that_is_known() {
        assert_eq!((Size::Exact(746_615).limit(), mebibytes(1.5).limit()), (746_615, 3 << 20));
        assert!(ENTRIES.iter().all(|entry| entry.size.limit() < super::super::file::LARGEST));
    }

    #[test]
    fn names_are_found_whatever_their_case() {
        assert_eq!(find("bt4-IT332").unwrap().name, "BT4-it332");
        assert_eq!(find("maia-1500").unwrap().file_name(), "maia-1500.pb.gz");
    }

    #[test]
    fn an_unknown_name_lists_those_like_it() {
        let line = find("maia").unwrap_err().to_string();
        assert!(line.contains("maia-1100") && !line.contains("BT4"), "{line}");
        let line = find("stockfish").unwrap_err().to_string();
        assert!(line.contains("stockfish") && line.contains("BT4-it332") && line.lines().count() == 1, "{line}");
    }

    #[test]
    fn sizes_say_whether_they_are_exact() {
        let json = serde_json::to_value(find("tinygyal-8").unwrap()).unwrap();
        assert_eq!((&json["bytes"], &json["bytes_exact"]), (&430_158.into(), &true.into()));
        assert_eq!(serde_json::to_value(find("BT3").unwrap()).unwrap()["bytes_exact"], false);
    }
}
