//! Draws charts as SVG: curves with bands, values with intervals, and stacked bars; and the page of analysed games.
//!
//! | file | what |
//! |---|---|
//! | `markup` | elements and escaped text |
//! | `palette` | the colours of both schemes, and the style sheet |
//! | `scale` | where a value lies on an axis, and its ticks |
//! | `plot` | what a chart shows |
//! | `canvas` | the frame of a chart: title, legend, size |
//! | `lines`, `dots`, `stacks` | the three kinds of charts |
//! | `inline` | styles, scripts and data inside a page, and their hashes |
//! | `game_page` | the page of analysed games, from `templates/games/` |

mod canvas;
mod dots;
mod game_page;
mod inline;
mod lines;
mod markup;
mod palette;
mod plot;
mod scale;
mod stacks;

pub use canvas::Frame;
pub use game_page::game_page;
pub use inline::{content_hash, lines};
pub use markup::escape;
pub use palette::{chart_css, page_css};
pub use plot::{
    Axis, Curve, DotPlot, DotRow, LinePlot, Mark, Plot, Quantity, Reference, Spacing, Spread, StackPlot, StackRow,
};

use canvas::Canvas;

/// Draws a chart as an SVG element; as a file of its own where the frame says so.
pub fn draw(plot: &Plot, frame: &Frame<'_>) -> String {
    draw_all(std::slice::from_ref(plot), frame)
}

/// Draws charts below one another in one frame.
pub fn draw_all(plots: &[Plot], frame: &Frame<'_>) -> String {
    let mut canvas = Canvas::new(frame);
    for plot in plots {
        match plot {
            Plot::Lines(plot) => lines::draw(plot, &mut canvas),
            Plot::Dots(plot) => dots::draw(plot, &mut canvas),
            Plot::Stacks(plot) => stacks::draw(plot, &mut canvas),
        }
    }
    canvas.finish(frame)
}
