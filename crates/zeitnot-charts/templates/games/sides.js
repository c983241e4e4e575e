// What is said of both sides of a game, and of a player over many games.

// A share of the time as a bar, with a tick where it usually is.
function shareCell({ share, usual_share }) {
  const usual = known(usual_share) ? 100 * usual_share : null;
  return [percent(100 * share), known(usual) ? ` (usual: ${percent(usual)})` : null,
    svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      rect("whole", 0, 0, 100, 8), rect("share", 0, 0, 100 * share, 8),
      known(usual) ? rect("tick", usual - 1, 0, 2, 8) : null)];
}

// A table with a column a side; a row that nobody has a value for is left out.
function table(sides, heads) {
  const rows = [];
  const row = (name, cell) => {
    const cells = sides.map(cell);
    if (!cells.some(known)) return;
    rows.push(el("tr", {}, el("th", { scope: "row" }, name), cells.map((one) => el("td", {}, one ?? "–"))));
  };
  const number = (value, digits) => known(value) ? value.toFixed(digits) : null;
  const clock = (name, cell) => row(name, (side) => side.clock ? cell(side.clock, side) : null);
  const counted = (count, more) => count ? `${count}, ${more}` : "0";
  // Over many games the mean of one is told.
  const chances = (lost, { games = 1 }) => `${percent(100 * lost / games)}${games > 1 ? " a game" : ""}`;
  row("Accuracy", (side) => number(side.accuracy, 1));
  row("Average loss, centipawns", (side) => number(side.average_loss_cp, 0));
  for (const fault of ["inaccuracies", "mistakes", "blunders"]) row(capital(fault), (side) => number(side[fault], 0));
  row("Winning chances lost in all", (side) => known(side.expected_loss) ? chances(side.expected_loss, side) : null);
  clock("Clock score, 0 to 100", ({ score }) => number(score, 0));
  clock("Long thoughts that bought nothing",
    ({ long_thoughts: { count, ms } }) => counted(count, `${span(ms)} more than usual`));
  clock("Instant moves that needed a thought",
    ({ instant: { count, cost } }, side) => counted(count, `cost ${chances(cost, side)}`));
  clock("Moves in time trouble", ({ trouble: { moves, loss, cost } }, side) =>
    counted(moves, `lost ${chances(loss, side)}, ${chances(cost, side)} more than other moves`));
  for (const phase of ["opening", "middlegame", "endgame"]) {
    clock(`Time in the ${phase}`, ({ phases }) => phases.filter(({ name }) => name === phase).map(shareCell)[0]);
  }
  for (const phase of ["opening", "middlegame", "endgame"]) {
    row(`Mean accuracy of a move in the ${phase}`, ({ by_phase }) => by_phase
      ?.filter(({ name, accuracy }) => name === phase && known(accuracy))
      .map(({ accuracy, expected_loss }) => `${fixed(accuracy, 1)}, ${fixed(100 * expected_loss, 1)}\u00a0% lost a move`)[0]);
  }
  const names = heads.map((name) => el("th", { scope: "col" }, el("bdi", {}, name)));
  return el("table", {}, heads.length ? el("thead", {}, el("tr", {}, el("td"), names)) : null, el("tbody", {}, rows));
}

function drawSides() {
  const { white, black } = game;
  $("sides").replaceChildren(table([white, black], [`White: ${white.name}`, `Black: ${black.name}`]));
}
const MOST_PLAYERS = 12;
// The players of the most games, or the one who is asked for; one game alone is told with the game.
function drawPlayers() {
  const wanted = $("player").value.trim().toLowerCase();
  const all = data.players.filter(({ name }) => !wanted || named(name, wanted)), players = all.slice(0, MOST_PLAYERS);
  const others = new Set(data.games.flatMap(({ white, black }) => [white.name, black.name])).size - players.length;
  $("players").hidden = players.length === 0 || data.games.length < 2;
  $("others").textContent = others > 0 ? `${others} ${others === 1 ? "player" : "players"} more: name one in the filter of the games` : "";
  $("player-list").replaceChildren(...players.map((player) => {
    const { name, games, accuracy, clock } = player, score = clock ? `, clock score ${fixed(clock.score, 0)}` : "";
    return el("details", { open: players.length < 3 ? "" : null },
      el("summary", {}, el("b", {}, el("bdi", {}, name)), `: ${games} ${games === 1 ? "game" : "games"}`,
        el("span", { class: "soft" }, ` accuracy ${fixed(accuracy, 0)}${score}`)),
      table([player], []));
  }));
}
