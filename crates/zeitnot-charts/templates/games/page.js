// The state of the page, its games and its keys.

// `before`: the board shows the position before the move; `side`: whose moments are listed.
let data, game, chosen, chart, ply = 0, before = false, flipped = false, side = "both";
const MOST_MOMENTS = 5;
const TAGS_SHOWN = ["Event", "Site", "Date", "Round", "TimeControl", "ECO", "Opening", "Termination"];

function show(index, wantsBefore = false) {
  ply = Math.min(game.moves.length, Math.max(0, index));
  before = wantsBefore && known(bestOther(game.moves[ply - 1]));
  drawBoard();
  drawNow();
  markMove();
  chart.markMove();
  $("first").disabled = $("back").disabled = ply === 0;
  $("last").disabled = $("on").disabled = ply === game.moves.length;
  const move = game.moves[ply - 1];
  const text = move ? [numbered(move), ...marks(move), `White ${percent(move.win)}`].join(", ") : "start";
  $("chart").setAttribute("aria-valuenow", ply);
  $("chart").setAttribute("aria-valuetext", plain(text));
}
// Shows a moment: the board before the move, with the move and the better one.
function lookAt(index) {
  show(index, true);
  if ($("board").getBoundingClientRect().top < 0) $("board").scrollIntoView();
}

function namesOf({ white, black, tags }) {
  const named = ({ name, elo }) => [el("bdi", {}, name), known(elo) ? ` (${elo})` : null];
  return [...named(white), " – ", ...named(black), tags.Result ? ` ${tags.Result}` : null];
}
function choose(index) {
  chosen = data.games[index];
  game = unpacked(chosen);
  const link = linkOf(game.tags);
  $("title").replaceChildren(el("span", {}, namesOf(game)));
  if (link) $("title").append(" ", el("a", { href: link.href, target: "_blank", rel: "noopener noreferrer" }, link.host));
  const tags = TAGS_SHOWN.map((tag) => [tag, game.tags[tag]]).filter(([, value]) => value && !/^[?-]/.test(value))
    .map(([tag, value]) => tag === "TimeControl" ? `time control ${value}` : value);
  $("tags").textContent = plain(tags.join(" · "));
  markGame();
  drawMoves();
  drawMoments();
  $("chart").setAttribute("aria-valuemax", game.moves.length);
  drawChart();
  drawSides();
  show(0);
}
// Where the game was played, if its tags have an address.
function linkOf(tags) {
  for (const text of ["Link", "GameUrl", "URL", "Site"].map((tag) => tags[tag] ?? "")) {
    try {
      if (/^https?:\/\//.test(text)) return new URL(text);
    } catch { /* No address. */ }
  }
  return null;
}
// Copies a text, also where the page is a file and the browser keeps its clipboard from files.
async function copy(text, button) {
  const area = el("textarea", { class: "unseen" });
  area.value = text;
  button.after(area);
  area.select();
  const done = document.execCommand("copy") || await navigator.clipboard?.writeText(text).then(() => true, () => false);
  area.remove();
  const name = button.textContent;
  button.textContent = done ? "Copied" : "Not allowed";
  setTimeout(() => { button.textContent = name; }, 1500);
}

// The moment that stands so many places further in the list.
function stepMoment(by) {
  const listed = shownMoments(), at = listed.findIndex((moment) => moment.ply === ply);
  const next = listed[at < 0 ? (by > 0 ? 0 : listed.length - 1) : at + by];
  if (next) lookAt(next.ply);
}
function listMoments(of) {
  side = of;
  drawMoments();
  drawChart();
  if (of !== "both" && flipped !== (of === "black")) flip();
  markMove();
}

function flip() {
  flipped = !flipped;
  $("flip").setAttribute("aria-pressed", flipped);
  drawBoard();
}
function toggleHelp() {
  if ($("help").open) $("help").close(); else $("help").showModal();
}
function listen() {
  const steps = {
    Home: () => show(0), ArrowLeft: () => show(ply - 1), ArrowRight: () => show(before ? ply : ply + 1),
    End: () => show(game.moves.length), f: flip, n: () => stepMoment(1), p: () => stepMoment(-1),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.("input, select, textarea")) return;
    if (event.key === "?") toggleHelp();
    else if (!$("help").open && steps[event.key]) steps[event.key]();
    else return;
    event.preventDefault();
  });
  const buttons = { first: "Home", back: "ArrowLeft", on: "ArrowRight", last: "End", flip: "f", next: "n", previous: "p" };
  for (const [id, key] of Object.entries(buttons)) $(id).addEventListener("click", steps[key]);
  $("copy-fen").addEventListener("click", () => copy((game.moves[ply - 1] ?? game.start).fen, $("copy-fen")));
  $("copy-pgn").addEventListener("click", () => copy(pgnOf(game), $("copy-pgn")));
  for (const button of document.querySelectorAll("[data-side]")) {
    button.addEventListener("click", () => listMoments(button.dataset.side));
  }
  $("help-button").addEventListener("click", toggleHelp);
  const point = (event) => show(chart.plyAt(event.clientX - $("chart").getBoundingClientRect().left));
  $("chart").addEventListener("pointerdown", point);
  $("chart").addEventListener("pointermove", (event) => { if (event.buttons & 1) point(event); });
  let width = $("chart").clientWidth;
  new ResizeObserver(() => {
    if ($("chart").clientWidth === width) return;
    width = $("chart").clientWidth;
    drawChart();
  }).observe($("chart"));
}

function start() {
  data = JSON.parse($("data").textContent);
  const about = [data.network ? `network ${data.network.name}` : null, data.limit, `Zeitnot ${data.version}`];
  $("about").textContent = plain(about.filter(Boolean).join(" · "));
  if (data.games.length === 0) throw new Error("it has no game");
  $("game").hidden = false;
  $("limits").textContent = data.network
    ? "A short search by a network finds what it finds: a mark near a threshold may fall on either side, a deep combination or an endgame be missed. Look again at what surprises you with more nodes."
    : "The evaluations are those of the games' own comments; how good they are depends on who wrote them.";
  listenToFilters();
  choose(0);
  refilter();
  listen();
}
try {
  start();
} catch (error) {
  $("failure").hidden = false;
  $("failure").textContent = plain(`The analysis cannot be shown: ${error.message}.`);
}
