//! Names a parameter of a time manager, and sets it to another value in a specification.

use std::fmt;
use zeitnot_time::grammar::{self, Content, Entry};

/// A parameter of a time manager, written as the specification in which it stands alone and without a value:
/// `smooth(extension)`, `smooth(piggybank(per-move))`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerParameter {
    /// The manager, the groups around the parameter, and the parameter.
    path: Vec<String>,
}

impl ManagerParameter {
    /// Reads a name; `None` where it does not name one parameter of a manager.
    pub fn parse(name: &str) -> Option<ManagerParameter> {
        let mut entries = grammar::parse(name).ok()?;
        let mut path = Vec::new();
        loop {
            let [Entry { name, content: Content::Group(inner), .. }] = &entries[..] else { return None };
            path.push(name.clone());
            if inner.is_empty() {
                break;
            }
            entries = inner.clone();
        }
        (path.len() > 1).then_some(ManagerParameter { path })
    }

    /// The manager.
    pub fn manager(&self) -> &str {
        &self.path[0]
    }

    /// The specification with this value of the parameter; `None` where it is of another manager or cannot be read.
    pub fn set(&self, specification: &str, value: f64) -> Option<String> {
        let mut entries = grammar::parse(specification).ok()?;
        let [manager] = &mut entries[..] else { return None };
        if manager.name != self.path[0] {
            return None;
        }
        set(manager, &self.path[1..], value)?;
        Some(manager.to_string())
    }
}

/// Sets the value at the end of `path` in a group, and adds missing groups; `None` where `group` is not a group.
fn set(group: &mut Entry, path: &[String], value: f64) -> Option<()> {
    let Content::Group(entries) = &mut group.content else { return None };
    let (name, inner) = path.split_first()?;
    let is_group = |entry: &Entry| entry.name == *name && matches!(entry.content, Content::Group(_));
    let new = |content| Entry { name: name.clone(), offset: 0, content };
    if inner.is_empty() {
        // The last value of a parameter that is given twice counts.
        let place = entries.iter().rposition(|entry| entry.name == *name && !is_group(entry));
        match place {
            Some(place) => entries[place].content = Content::Number(value),
            None => entries.push(new(Content::Number(value))),
        }
        return Some(());
    }
    let place = entries.iter().position(is_group).unwrap_or_else(|| {
        entries.push(new(Content::Group(Vec::new())));
        entries.len() - 1
    });
    set(&mut entries[place], inner, value)
}

impl fmt::Display for ManagerParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.path.join("("), ")".repeat(self.path.len() - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_parameter_without_its_value() {
        for name in ["smooth(extension)", "smooth(piggybank(per-move))", "price(horizon)"] {
            assert_eq!(ManagerParameter::parse(name).map(|parameter| parameter.to_string()).as_deref(), Some(name));
        }
        for name in ["CPuct", "smooth", "smooth(extension=1)", "smooth(a,b)", "smooth(", "", "a=1"] {
            assert_eq!(ManagerParameter::parse(name), None, "{name}");
        }
    }

    #[test]
    fn values_are_set_where_they_stand_or_added() {
        let set = |name: &str, specification: &str| ManagerParameter::parse(name).unwrap().set(specification, 0.25);
        assert_eq!(set("smooth(extension)", "smooth").as_deref(), Some("smooth(extension=0.25)"));
        assert_eq!(
            set("smooth(extension)", "smooth(extension=1, init-nps=5, extension=2)").as_deref(),
            Some("smooth(extension=1,init-nps=5,extension=0.25)")
        );
        assert_eq!(
            set("smooth(piggybank(init))", "smooth(piggybank,preset=lc0)").as_deref(),
            Some("smooth(piggybank(init=0.25),preset=lc0)")
        );
        assert_eq!(
            set("complexity(control(blitz))", "complexity(class=rapid)").as_deref(),
            Some("complexity(class=rapid,control(blitz=0.25))")
        );
        assert_eq!(set("smooth(extension)", "legacy"), None);
    }
}
