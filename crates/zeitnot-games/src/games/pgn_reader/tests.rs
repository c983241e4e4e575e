//! Tests the reader of PGN.

use super::*;

fn read(text: &str) -> Vec<PgnGame> {
    read_games(text.as_bytes()).unwrap()
}

#[test]
fn moves_have_their_comments_and_variations_are_left_out() {
    let games = read("[White \"A\"]\n\n{before} 1. e4 {[%clk 0:01:00]} {x} e5 (1... c5 {no}) 2. Nf3 1-0\n\n1. d4 *\n");
    assert_eq!(games.len(), 2);
    let game = &games[0];
    assert_eq!((game.tag("White"), game.tag("Black"), game.game.moves().len()), ("A", "", 3));
    assert_eq!(game.comments[0], ["before"]);
    assert_eq!(game.comments_of(0), ["[%clk 0:01:00]", "x"]);
    assert!(game.comments_of(1).is_empty() && game.problem.is_none());
}

#[test]
fn damaged_games_end_where_they_are_and_the_next_is_read() {
    let games =
        read("[A \"1\"]\n\n1. e4 e5 2. Ke3 Nc6 1-0\n\n[FEN \"none\"]\n\n1. e4 *\n\n[A \"3\"]\n\n1. c4 1/2-1/2\n");
    let plies: Vec<usize> = games.iter().map(|game| game.game.moves().len()).collect();
    assert_eq!(plies, [2, 0, 1]);
    assert!(games[0].problem.as_ref().unwrap().contains("illegal move Ke3 after 2 plies"));
    assert!(games[1].problem.as_ref().unwrap().contains("\"none\""));
    assert_eq!(games[2].number, 3);
}

const SOUND: &str = "[White \"A\"]\n\n1. e4 {[%clk 0:01:00]} e5 {[%clk 0:00:59]} 1-0\n\n";

/// The white player, the plies and the problem of each game.
fn told(text: &str) -> Vec<(String, usize, String)> {
    let told = |game: PgnGame| {
        let plies = game.game.moves().len();
        assert!(game.problem.is_some() || game.comments.len() == plies + 1, "{game:?}");
        (game.tag("White").to_owned(), plies, game.problem.unwrap_or_default())
    };
    read(text).into_iter().map(told).collect()
}

fn sound(games: usize) -> Vec<(String, usize, String)> {
    vec![("A".to_owned(), 2, String::new()); games]
}

#[test]
fn a_comment_without_an_end_costs_its_own_game_only() {
    let cut = "[White \"B\"]\n\n1. d4 {[%clk 0:01:00]} d5 {[%clk 0:0";
    let lost = [("B".to_owned(), 2, "a comment without an end after 2 plies".to_owned())];
    let text = SOUND.repeat(3) + cut;
    assert_eq!(told(&text), [&sound(3)[..], &lost].concat());
    assert!(read(&text)[3].comments_of(1).is_empty(), "half a clock is none");
    // A runner that was begun again goes on in the same file, with comments or without.
    assert_eq!(told(&format!("{text}\n{}", SOUND.repeat(2))), [&sound(3)[..], &lost, &sound(2)].concat());
    let bare = [("C".to_owned(), 1, String::new())];
    assert_eq!(told(&format!("{text}\n[White \"C\"]\n\n1. e4 *\n")), [&sound(3)[..], &lost, &bare].concat());
    // Brackets that begin a line of a comment are no tags.
    let wrapped = "1. e4 {[%clk 0:01:00]\n[%emt 0:00:01]\n[see above]} e5 *\n";
    assert_eq!(told(wrapped), [(String::new(), 2, String::new())]);
}

#[test]
fn games_before_any_cut_are_whole() {
    let whole = SOUND.repeat(3);
    for cut in 0..whole.len() {
        let told = told(&whole[..cut]);
        let before = cut / SOUND.len();
        assert_eq!(told[..before], sound(before), "{cut}");
        assert!(told.len() <= before + 1, "{cut}: {told:?}");
    }
}

#[test]
fn a_long_tag_is_read_and_a_longer_one_left_out() {
    let tag = |length: usize| format!("[Black \"B\"]\n[Annotator \"{}\"]\n", "x".repeat(length));
    // Wherever the end of the reader's buffer is.
    for games in 200..220 {
        let text = SOUND.repeat(games) + &tag(5_000) + SOUND;
        let read = read(&text);
        assert_eq!((read.len(), read[games].tag("Annotator").len()), (games + 1, 5_000));
    }
    let read = read(&(SOUND.to_owned() + &tag(300_000) + &SOUND.repeat(2)));
    assert_eq!((read.len(), read[1].tag("Annotator"), read[1].tag("Black")), (3, "", "B"));
    assert_eq!(told(&(SOUND.to_owned() + &tag(300_000) + &SOUND.repeat(2))), sound(3));
    let cut = [(String::new(), 0, "it ends within its tags".to_owned())];
    assert_eq!(told(&(SOUND.to_owned() + "[Black \"B\"]\n[White \"A")), [&sound(1)[..], &cut].concat());
}

#[test]
fn a_comment_is_one_wherever_the_readers_buffer_ends() {
    let comment = format!("{}, mt=161060, tl=3445940, {}", "pv=e4 \u{e9} ".repeat(15), "R50=49, ".repeat(40));
    let comment = comment.trim();
    assert!(comment.len() > 400);
    for end in [1 << 14, 1 << 17] {
        for begin in end - comment.len() - 60..=end + 1 {
            let text = format!("; {}\n1. e4 {{{comment}}} e5 {{x}} *\n", "-".repeat(begin - 20));
            let game = &read(&text)[0];
            assert_eq!((game.comments_of(0), game.comments_of(1)), (&[comment.to_owned()][..], &["x".to_owned()][..]));
        }
    }
}

/// A source that counts the bytes it hands out, a few at a time.
struct Counted<'a> {
    bytes: &'a [u8],
    count: &'a std::cell::Cell<usize>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(1000);
        let read = self.bytes.read(&mut buffer[..most])?;
        self.count.set(self.count.get() + read);
        if read == 0 { Err(io::Error::other("the disk is gone")) } else { Ok(read) }
    }
}

#[test]
fn a_game_is_handed_over_before_the_file_is_read() {
    let (text, count) = (SOUND.repeat(100_000), std::cell::Cell::new(0));
    let mut games = PgnGames::new(Counted { bytes: text.as_bytes(), count: &count });
    assert_eq!(games.next().unwrap().unwrap().game.moves().len(), 2);
    assert!(count.get() < 1 << 20, "{} of {}", count.get(), text.len());
    // An error of the source ends the games, after those that were whole before it.
    let read: Vec<bool> = games.map(|game| game.is_ok()).collect();
    let (last, sound) = read.split_last().unwrap();
    assert!(!last && sound.len() > 90_000 && sound.iter().all(|is_sound| *is_sound), "{}", sound.len());
}

#[test]
fn what_is_kept_of_a_game_has_a_limit() {
    let size = |game: &PgnGame| {
        game.comments.iter().flatten().chain(game.tags.iter().map(|tag| &tag.1)).map(String::len).sum::<usize>()
    };
    let filled = |begin: &'static str, length: u64, end: &'static str| {
        let text = begin.as_bytes().chain(io::repeat(b'x').take(length)).chain(end.as_bytes());
        read_games(text.chain(&b"[White \"B\"]\n\n1. d4 *\n"[..])).unwrap()
    };
    for (begin, end, plies, problem) in [
        ("[White \"A\"]\n[Event \"", "\"]\n\n1. e4 e5 *\n\n", 2, None),
        ("[White \"A\"]\n", "\n\n1. e4 e5 *\n\n", 2, None),
        ("[White \"A\"]\n\n", "\n\n2. e4 e5 *\n\n", 0, Some("no move but \"xxx")),
        ("[White \"A\"]\n\n1. e4 {", "} e5 *\n\n", 1, Some("more tags and comments than 16 MiB after 1 plies")),
        ("[White \"A\"]\n\n1. e4 (", ") e5 *\n\n", 2, None),
        ("[White \"A\"]\n\n1. e4 ", " e5 *\n\n", 1, Some("illegal move xxx")),
        ("[White \"A\"]\n\n1. e4 ;", "\ne5 *\n\n", 2, None),
        ("[White \"A\"]\n\n1. e4\n%", "\ne5 *\n\n", 2, None),
    ] {
        let games = filled(begin, 18 << 20, end);
        assert_eq!((games.len(), games[0].tag("White"), games[1].tag("White")), (2, "A", "B"), "{begin}");
        assert_eq!((games[0].game.moves().len(), games[1].game.moves().len()), (plies, 1), "{begin}");
        let is_told = |told: &String| problem.is_some_and(|problem| told.starts_with(problem) && told.len() < 200);
        assert!(games[0].problem.as_ref().map_or(problem.is_none(), is_told), "{begin}: {:?}", games[0].problem);
        assert!(size(&games[0]) <= 1 << 24);
    }
    // Many short ones.
    let games = read(&format!("1. e4 {} e5 *\n\n{SOUND}", "{a}".repeat(1_000_000)));
    assert!(games[0].comments_of(0).len() < 300_000 && games[0].problem.is_some() && games[1].problem.is_none());
    let games = read(&format!("{} *\n\n{SOUND}", "Nf3 Nf6 Ng1 Ng8 ".repeat(6_000)));
    assert_eq!((games[0].game.moves().len(), games[1].game.moves().len()), (20_000, 2));
    assert_eq!(games[0].problem.as_deref(), Some("more moves than a game can have, Nf3 after 20000 plies"));
}

#[test]
fn a_long_line_is_read_like_many_short_ones() {
    let moves = |end: &str| format!("Nf3 {{[%clk 0:01:00]}}{end}Nf6 $1{end}Ng1!{end}(x {{y)}} ){end}Ng8{end}");
    let game = |end: &str| format!("[White \"A\"]{end}[Black \"B\"]{end}1. {}*", moves(end).repeat(4_000));
    for games in [2, 3] {
        let [long, short] = [" ", "\n"].map(|end| read(&vec![game(end); games].join("\n\n")));
        assert_eq!(long.len(), games);
        for (long, short) in long.iter().zip(&short) {
            assert_eq!((&long.tags, long.game.moves().len()), (&short.tags, 16_000));
            assert!(long.problem.is_none() && long.comments == short.comments, "{:?}", long.problem);
        }
    }
}

#[test]
fn utf_16_is_called_what_it_is() {
    let units: Vec<u16> = format!("\u{feff}{SOUND}").encode_utf16().collect();
    let bytes = [u16::to_le_bytes, u16::to_be_bytes].map(|bytes| units.iter().flat_map(|unit| bytes(*unit)).collect());
    for bytes in bytes as [Vec<u8>; 2] {
        for text in [&bytes[..], &bytes[2..]] {
            assert_eq!(read_games(text).unwrap_err().to_string(), "it is UTF-16; save it as UTF-8");
        }
    }
    assert!(read_games(&b"\0\0\0\0"[..]).unwrap().is_empty());
}

#[test]
fn glyphs_and_variations_are_kept_as_they_are_written() {
    let text = "{a} 1. e4! $14 ( 1. c4 {x ) y} (1. Nf3!? $1) e5 ; z } z\n2. Nc3 ) (1. f4) e5?? $4 2. Nf3 *\n";
    let game = &read(text)[0];
    assert_eq!(game.game.moves().len(), 3);
    assert_eq!(game.glyphs, [vec![], vec![1, 14], vec![4, 4], vec![]]);
    let known = ["( 1. c4 {x ) y} (1. Nf3!? $1) e5 {z  z} 2. Nc3 )", "(1. f4)"];
    assert_eq!(game.variations[1], known);
    assert_eq!(game.variations.iter().map(Vec::len).collect::<Vec<_>>(), [0, 2, 0, 0]);
    assert!(game.comments[1].is_empty() && game.problem.is_none());
}
