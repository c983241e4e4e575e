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
  const clock = (name, cell) => row(name, (side) => side.clock ? cell(side.clock) : null);
  const counted = (count, more) => count ? `${count}, ${more}` : "0";
  row("Accuracy", (side) => number(side.accuracy, 1));
  row("Average loss, centipawns", (side) => number(side.average_loss_cp, 0));
  for (const fault of ["inaccuracies", "mistakes", "blunders"]) row(capital(fault), (side) => number(side[fault], 0));
  row("Score lost, points", (side) => number(side.expected_loss, 2));
  clock("Clock score, 0 to 100", ({ score }) => number(score, 0));
  clock("Long thoughts that bought nothing",
    ({ long_thoughts: { count, ms } }) => counted(count, `${span(ms)} more than usual`));
  clock("Instant moves that needed a thought",
    ({ instant: { count, cost } }) => counted(count, `cost ${fixed(cost, 2)}`));
  clock("Moves in time trouble", ({ trouble: { moves, loss, cost } }) =>
    counted(moves, `lost ${fixed(loss, 2)}, ${fixed(cost, 2)} more than other moves`));
  for (const phase of ["opening", "middlegame", "endgame"]) {
    clock(`Time in the ${phase}`, ({ phases }) => phases.filter(({ name }) => name === phase).map(shareCell)[0]);
  }
  for (const phase of ["opening", "middlegame", "endgame"]) {
    row(`Mean accuracy of a move in the ${phase}`, ({ by_phase }) => by_phase
      ?.filter(({ name, accuracy }) => name === phase && known(accuracy))
      .map(({ accuracy, expected_loss }) => `${fixed(accuracy, 1)}, ${fixed(expected_loss, 3)} lost a move`)[0]);
  }
  const names = heads.map((name) => el("th", { scope: "col" }, el("bdi", {}, name)));
  return el("table", {}, heads.length ? el("thead", {}, el("tr", {}, el("td"), names)) : null, el("tbody", {}, rows));
}

function drawSides() {
  const { white, black } = game;
  $("sides").replaceChildren(table([white, black], [`White: ${white.name}`, `Black: ${black.name}`]));
}
function drawPlayers(players) {
  $("players").hidden = players.length === 0 || data.games.length < 2;
  $("player-list").replaceChildren(...players.map((player) => {
    const { name, games, accuracy, clock } = player, score = clock ? `, clock score ${fixed(clock.score, 0)}` : "";
    return el("details", { open: players.length < 3 ? "" : null },
      el("summary", {}, el("b", {}, el("bdi", {}, name)), `: ${games} ${games === 1 ? "game" : "games"}`,
        el("span", { class: "soft" }, ` accuracy ${fixed(accuracy, 0)}${score}`)),
      table([player], []));
  }));
}
