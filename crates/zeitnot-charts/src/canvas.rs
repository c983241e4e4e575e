//! Frames a chart: its size, its title and description for readers, its legend, and the background of a file.

use super::markup::{Markup, px};
use super::palette::{SERIES, chart_css, dashes};

/// The width of every chart, in units of the picture: a third of a desktop's screen, and little more than a phone's, so
/// that text of 13 units can be read on both.
pub const WIDTH: f64 = 440.0;
/// Space at the left and the right.
pub const MARGIN: f64 = 12.0;
/// The mean width of a character of text of 13 units, in the same units; fonts of systems differ.
const CHARACTER: f64 = 7.4;
/// The height of a line of text.
pub const TEXT_LINE: f64 = 20.0;
/// The width of a sample in a legend together with the space behind it.
const SAMPLE: f64 = 34.0;

/// Facts around a chart: its identifier, title, description and notes.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// An identifier that no other chart of the page has: letters, digits and `-`.
    pub id: &'a str,
    /// The title.
    pub title: &'a str,
    /// A sentence with the chart's main number, for readers who do not see it.
    pub description: &'a str,
    /// Lines of facts below the title, shown only in a file.
    pub notes: &'a [String],
    /// Whether the chart is a file of its own, with the title and its style in it.
    pub is_file: bool,
}

/// A chart that is being drawn, and grows downward.
pub struct Canvas {
    /// Elements of the chart.
    pub markup: Markup,
    /// The height used so far.
    pub height: f64,
    /// The entries of legends so far: charts below one another share them.
    legend: Vec<(Sample, String)>,
}

/// The sample of a series beside its name in a legend, with the number of the series' colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// A line with the colour and dashes of a series.
    Line(usize),
    /// A point in the colour of a series.
    Point(usize),
    /// A large point in the colour of a series.
    Dot(usize),
    /// A rectangle in the colour of a series.
    Fill(usize),
    /// The line with which references are drawn.
    Reference,
}

/// The approximate width of a text, in units of the picture.
pub fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// The text, cut with `…` at the end if it is wider than `width`.
pub fn fitted(text: &str, width: f64) -> String {
    let most = (width / CHARACTER).max(4.0) as usize;
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}

/// The text in lines of at most `width`, broken between words.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| text_width(line) + text_width(word) + CHARACTER <= width) {
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

impl Canvas {
    /// A chart with nothing drawn yet, but with its title if it is a file.
    pub fn new(frame: &Frame<'_>) -> Canvas {
        let mut canvas = Canvas { markup: Markup::default(), height: 6.0, legend: Vec::new() };
        if frame.is_file {
            let width = WIDTH - 2.0 * MARGIN;
            let notes = frame.notes.iter().flat_map(|note| wrapped(note, width)).map(|line| ("soft", line));
            for (class, line) in wrapped(frame.title, width).into_iter().map(|line| ("ink name", line)).chain(notes) {
                canvas.height += TEXT_LINE;
                canvas.text(class, MARGIN, canvas.height - 5.0, "start", &fitted(&line, width));
            }
            canvas.height += 4.0;
        }
        canvas
    }

    /// Writes a text; `anchor` (`start`, `middle`, `end`) is the point of the text that lies at `x`.
    pub fn text(&mut self, class: &str, x: f64, y: f64, anchor: &str, text: &str) {
        let (x, y) = (px(x), px(y));
        self.markup.text("text", &[("class", class), ("x", &x), ("y", &y), ("text-anchor", anchor)], text);
    }

    /// Draws a straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(px);
        self.markup.empty("line", &[("class", class), ("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)]);
    }

    /// Draws a rectangle.
    pub fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let [x, y, width, height] = [x, y, width, height].map(px);
        self.markup.empty("rect", &[("class", class), ("x", &x), ("y", &y), ("width", &width), ("height", &height)]);
    }

    /// Writes the entries of a legend that no chart above has, in as many lines as they need.
    pub fn legend(&mut self, entries: &[(Sample, String)]) {
        let entries: Vec<_> = entries.iter().filter(|entry| !self.legend.contains(entry)).cloned().collect();
        if entries.is_empty() {
            return;
        }
        let mut x = MARGIN;
        self.height += TEXT_LINE;
        for (sample, name) in &entries {
            let name = fitted(name, WIDTH - 2.0 * MARGIN - SAMPLE);
            let width = SAMPLE + text_width(&name) + 14.0;
            if x > MARGIN && x + width > WIDTH {
                x = MARGIN;
                self.height += TEXT_LINE;
            }
            let y = self.height - 9.0;
            match *sample {
                Sample::Line(color) => self.path(&stroke("line", color), dashes(color), &segment(x, y)),
                Sample::Reference => self.path("reference", "", &segment(x, y)),
                Sample::Point(color) => self.path(&stroke("points", color), "", &point(x + 14.0, y)),
                Sample::Dot(color) => self.path(&stroke("dots", color), "", &point(x + 14.0, y)),
                Sample::Fill(color) => self.rect(&fill(color), (x + 10.0, y - 6.0), (18.0, 12.0)),
            }
            self.text("ink", x + SAMPLE, y + 4.5, "start", &name);
            x += width;
        }
        self.height += 6.0;
        self.legend.extend(entries);
    }

    /// Draws a path by its SVG data `d`; an empty `dashes` gives a solid line.
    pub fn path(&mut self, class: &str, dashes: &str, d: &str) {
        match dashes {
            "" => self.markup.empty("path", &[("class", class), ("d", d)]),
            dashes => self.markup.empty("path", &[("class", class), ("stroke-dasharray", dashes), ("d", d)]),
        }
    }

    /// The finished SVG element.
    pub fn finish(self, frame: &Frame<'_>) -> String {
        let mut markup = Markup::default();
        let (title_id, text_id) = (format!("{}--title", frame.id), format!("{}--text", frame.id));
        let height = px(self.height.ceil());
        let view = format!("0 0 {} {height}", px(WIDTH));
        let labelled = format!("{title_id} {text_id}");
        let mut attributes = vec![("role", "img"), ("aria-labelledby", labelled.as_str()), ("viewBox", view.as_str())];
        let width = px(WIDTH);
        if frame.is_file {
            attributes.splice(0..0, [("xmlns", "http://www.w3.org/2000/svg"), ("width", &width), ("height", &height)]);
        }
        markup.open("svg", &attributes);
        markup.text("title", &[("id", &title_id)], frame.title);
        markup.text("desc", &[("id", &text_id)], frame.description);
        if frame.is_file {
            // A page that shows the file may be light or dark without regard to the system's scheme, and the picture
            // cannot know it. With a background of its own, in the same scheme as its text, it can be read on both.
            markup.open("style", &[]);
            markup.push(&chart_css());
            markup.close("style");
            markup.empty("rect", &[("class", "bg"), ("width", &width), ("height", &height)]);
        }
        markup.push(&self.markup.finish());
        markup.close("svg");
        markup.finish()
    }
}

/// The CSS classes of an element with class `kind` that is stroked in the colour of a series.
pub fn stroke(kind: &str, color: usize) -> String {
    format!("{kind} s{}", color % SERIES)
}

/// The CSS class of an element that is filled with the colour of a series.
pub fn fill(color: usize) -> String {
    format!("f{}", color % SERIES)
}

/// The path data of a point: a line of hardly any length, whose ends are drawn round.
pub fn point(x: f64, y: f64) -> String {
    format!("M{} {}h.01", px(x), px(y))
}

fn segment(x: f64, y: f64) -> String {
    format!("M{} {}h28", px(x), px(y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(fitted("smooth", 200.0), "smooth");
        let cut = fitted(&"é".repeat(300), 100.0);
        assert!(cut.ends_with('…') && text_width(&cut) <= 100.0, "{cut}");
    }

    #[test]
    fn a_title_and_facts_stand_in_whole_and_legends_once() {
        let notes = ["a card with a long name, driver 580.159.04; zeitnot 0.1.0; best batch 256".to_owned()];
        let title = "a network with a name that is longer than the picture is wide, and then some";
        let frame = Frame { id: "a", title, description: "", notes: &notes, is_file: true };
        let mut canvas = Canvas::new(&frame);
        let entry = [(Sample::Line(0), "one".to_owned())];
        canvas.legend(&entry);
        let height = canvas.height;
        canvas.legend(&entry);
        assert_eq!(canvas.height, height);
        let svg = canvas.finish(&frame);
        let lines = |class: &str| -> Vec<&str> {
            let start = format!("<text class=\"{class}\"");
            let texts: Vec<&str> = svg.split(&start).skip(1).collect();
            texts.into_iter().map(|text| text.split(['>', '<']).nth(1).unwrap()).collect()
        };
        assert_eq!((lines("ink name").join(" "), lines("soft").join(" ")), (title.to_owned(), notes[0].clone()));
        assert!(lines("ink name").iter().all(|line| text_width(line) <= WIDTH - 2.0 * MARGIN), "{svg}");
    }

    #[test]
    fn a_legend_stays_within_the_picture() {
        let frame = Frame { id: "a", title: "", description: "", notes: &[], is_file: false };
        let mut canvas = Canvas::new(&frame);
        let entries: Vec<(Sample, String)> = (0..9).map(|n| (Sample::Line(n), format!("manager number {n}"))).collect();
        canvas.legend(&entries);
        assert!(canvas.height > 3.0 * TEXT_LINE, "{}", canvas.height);
        let svg = canvas.finish(&frame);
        assert_eq!(svg.matches("<text").count(), 9);
        for x in svg.split("<text class=\"ink\" x=\"").skip(1) {
            let x: f64 = x.split('"').next().unwrap().parse().unwrap();
            assert!(x + text_width("manager number 0") <= WIDTH, "{svg}");
        }
    }
}
