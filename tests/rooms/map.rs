//! Reads the module map, the table at the head of `src/lib.rs`, and checks imports against it.

use super::imports::Import;

/// The head of the table.
const HEAD: &str = "//! | module | what lives there | must not know |";
/// The words of the last column that allow no import at all.
const EVERYTHING: &str = "everything else";

/// A room: a module at the root of the crate, or the commands of the binary.
#[derive(Debug)]
struct Room {
    name: String,
    /// Whether it must not use any other room.
    knows_nothing: bool,
    /// The rooms that it must not use besides those below its own row.
    must_not_know: Vec<String>,
}

/// The rooms, lowest first.
#[derive(Debug)]
pub struct Map(Vec<Room>);

impl Map {
    /// Reads the table in the source of `src/lib.rs`. Its last column names rooms in backticks, beside words for people.
    ///
    /// # Errors
    /// When there is no table, or it names a room that has no row.
    pub fn parse(source: &str) -> Result<Map, String> {
        let rows = source.lines().skip_while(|line| *line != HEAD).skip(2);
        let rows = rows.take_while(|line| line.starts_with("//! |"));
        let map = Map(rows.map(room).collect::<Result<_, _>>()?);
        if map.0.is_empty() {
            return Err(format!("there is no table that begins with {HEAD}"));
        }
        for room in &map.0 {
            if map.0.iter().filter(|other| other.name == room.name).count() > 1 {
                return Err(format!("{} has two rows", room.name));
            }
            if let Some(unknown) = room.must_not_know.iter().find(|name| map.row(name).is_none()) {
                return Err(format!("{} must not know {unknown}, which has no row", room.name));
            }
        }
        Ok(map)
    }

    /// The names of the rooms, lowest first.
    pub fn rooms(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|room| room.name.as_str())
    }

    fn row(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|room| room.name == name)
    }

    /// The imports that the map forbids, a line each. A cycle between rooms has an import that points up.
    pub fn violations(&self, imports: &[Import]) -> Vec<String> {
        imports.iter().filter_map(|import| Some(format!("{import}: {}", self.violation(import)?))).collect()
    }

    /// The rule that an import breaks.
    fn violation(&self, import: &Import) -> Option<String> {
        let Import { from, to, .. } = import;
        if from == to {
            return None;
        }
        let (Some(user), Some(used)) = (self.row(from), self.row(to)) else {
            let missing = if self.row(from).is_none() { from } else { to };
            return Some(format!("{missing} is not on the map"));
        };
        let room = &self.0[user];
        if used > user {
            Some(format!("{to} lies above {from}"))
        } else if room.knows_nothing || room.must_not_know.contains(to) {
            Some(format!("{from} must not know {to}"))
        } else {
            None
        }
    }
}

fn room(row: &str) -> Result<Room, String> {
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let [_, name, _, must_not_know, _] = cells[..] else { return Err(format!("this row has not three cells: {row}")) };
    let [name] = quoted(name)[..] else { return Err(format!("this row does not name one module: {row}")) };
    Ok(Room {
        name: name.to_owned(),
        knows_nothing: must_not_know.starts_with(EVERYTHING),
        must_not_know: quoted(must_not_know).into_iter().map(str::to_owned).collect(),
    })
}

/// The words between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUSE: &str = "\
//! A house.
//!
//! | module | what lives there | must not know |
//! |---|---|---|
//! | [`cellar`] | barrels | everything else; the sun |
//! | [`kitchen`] | pots | |
//! | [`parlour`] | chairs | smells ([`kitchen`]), noise |
//! | `roof` | tiles | |
//!
//! | another table |
pub mod cellar;
";

    /// The violations of imports from room to room.
    fn violations(imports: &[(&str, &str)]) -> Vec<String> {
        let import = |&(from, to): &(&str, &str)| Import {
            file: format!("src/{from}.rs"),
            line: 1,
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let imports: Vec<Import> = imports.iter().map(import).collect();
        Map::parse(HOUSE).unwrap().violations(&imports)
    }

    #[test]
    fn the_table_is_read_in_order() {
        let map = Map::parse(HOUSE).unwrap();
        assert_eq!(map.rooms().collect::<Vec<_>>(), ["cellar", "kitchen", "parlour", "roof"]);
        assert!(map.0[0].knows_nothing && map.0[1].must_not_know.is_empty());
        assert_eq!(map.0[2].must_not_know, ["kitchen"]);
    }

    #[test]
    fn downward_imports_are_allowed() {
        assert_eq!(violations(&[("kitchen", "cellar"), ("parlour", "cellar"), ("roof", "kitchen")]), [""; 0]);
        assert_eq!(violations(&[("cellar", "cellar")]), [""; 0]);
    }

    #[test]
    fn an_upward_import_is_found() {
        assert_eq!(violations(&[("kitchen", "roof")]), ["src/kitchen.rs:1: roof lies above kitchen"]);
    }

    #[test]
    fn a_cycle_is_found() {
        let cycle = [("parlour", "cellar"), ("roof", "parlour"), ("kitchen", "roof"), ("roof", "kitchen")];
        assert_eq!(violations(&cycle), ["src/kitchen.rs:1: roof lies above kitchen"]);
    }

    #[test]
    fn a_room_that_must_not_be_known_is_found() {
        assert_eq!(violations(&[("parlour", "kitchen")]), ["src/parlour.rs:1: parlour must not know kitchen"]);
        // Whatever it uses lies above it: the words bind a room that is moved up.
        let moved = HOUSE.replace("[`cellar`] | barrels | everything else", "[`roof`] | tiles | everything else");
        let moved = moved.replace("`roof` | tiles | |", "[`cellar`] | barrels | everything else |");
        let import = Import { file: "x".into(), line: 2, from: "cellar".into(), to: "kitchen".into() };
        assert_eq!(Map::parse(&moved).unwrap().violations(&[import]), ["x:2: cellar must not know kitchen"]);
    }

    #[test]
    fn a_room_without_a_row_is_found() {
        assert_eq!(violations(&[("roof", "garden")]), ["src/roof.rs:1: garden is not on the map"]);
        assert_eq!(violations(&[("garden", "roof")]), ["src/garden.rs:1: garden is not on the map"]);
    }

    #[test]
    fn a_broken_table_is_refused() {
        let error = |from: &str, to: &str| Map::parse(&HOUSE.replace(from, to)).unwrap_err();
        assert!(error("must not know", "").contains("there is no table"));
        assert!(error("[`kitchen`] | pots", "[`cellar`] | pots").contains("cellar has two rows"));
        assert!(error("([`kitchen`])", "([`garden`])").contains("garden, which has no row"));
        assert!(error("| pots | |", "| pots |").contains("three cells"));
        assert!(error("`roof`", "roof").contains("one module"));
    }
}
